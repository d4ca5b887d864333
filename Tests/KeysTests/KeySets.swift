import HTTP
import JOSE
import Keys
import TestSupport

/// JWK Sets with given `kid`s. All entries have the same key, unless a test sets others.
enum KeySets {
    static func json(_ keyIDs: [String]) -> [UInt8] { jwkSet(keyIDs.map { key($0) }) }

    /// A JWK; with `nil`, one without a `kid`.
    static func key(_ keyID: String?, _ key: TestKey = .p256) -> JSONTree {
        key.jwk(["kid": keyID.map(JSONTree.string)])
    }

    static func fetched(
        _ keyIDs: [String], lifetime: Interval? = nil, source: KeySnapshot.Source = .network,
        isNotModified: Bool = false
    ) -> FetchedKeys {
        fetched(keyIDs.map { key($0) }, lifetime: lifetime, source: source, isNotModified: isNotModified)
    }

    static func fetched(
        _ keys: [JSONTree], lifetime: Interval? = nil, source: KeySnapshot.Source = .network,
        isNotModified: Bool = false
    ) -> FetchedKeys {
        let text = jwkSet(keys)
        return fetched(
            try! JWKSet(text), text: text, lifetime: lifetime, source: source, isNotModified: isNotModified)
    }

    static func fetched(
        _ keys: JWKSet, text: [UInt8] = [], lifetime: Interval?, source: KeySnapshot.Source = .network,
        isNotModified: Bool = false
    ) -> FetchedKeys {
        FetchedKeys(
            keys: keys, text: text, algorithms: [.es256, .rs256], source: source, lifetime: lifetime,
            fetchedAtUnixSeconds: 1_700_000_000, isNotModified: isNotModified)
    }
}

/// A generator that always returns the same number, so that draws are predictable.
struct ConstantGenerator: RandomNumberGenerator, Sendable {
    let number: UInt64

    /// Draws the lower bound of every range.
    static let lowest = ConstantGenerator(number: 0)
    /// Draws the middle of every floating-point range.
    static let middle = ConstantGenerator(number: 1 << 52)

    mutating func next() -> UInt64 { number }
}
