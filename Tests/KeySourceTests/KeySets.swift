import Clocks
import JOSE
import JSON
import KeySource
import TestSupport

/// JWK Sets with the `kid`s that a test asks for, all of them one key.
enum KeySets {
    static func json(_ keyIDs: [String]) -> [UInt8] {
        jwkSet(keyIDs.map { TestKey.p256.jwk(["kid": .string($0)]) })
    }

    static func fetched(_ keyIDs: [String], lifetime: Interval? = nil) -> FetchedKeys {
        let text = json(keyIDs)
        return fetched(try! JWKSet(text), text: text, lifetime: lifetime)
    }

    static func fetched(_ keys: JWKSet, text: [UInt8] = [], lifetime: Interval?) -> FetchedKeys {
        FetchedKeys(
            keys: keys, text: text, algorithms: [.es256, .rs256], source: .network, lifetime: lifetime,
            fetchedAtUnixSeconds: 1_700_000_000)
    }
}

/// A generator whose every number is the same, so that what is drawn from it can be worked out.
struct ConstantGenerator: RandomNumberGenerator, Sendable {
    let number: UInt64

    /// Draws the lower bound of every range.
    static let lowest = ConstantGenerator(number: 0)
    /// Draws the middle of every range of doubles.
    static let middle = ConstantGenerator(number: 1 << 52)

    mutating func next() -> UInt64 { number }
}
