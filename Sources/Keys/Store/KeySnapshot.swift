private import Bytes
package import HTTP
package import JOSE

/// A provider's keys at one time: immutable, and delivered to every thread that verifies.
package struct KeySnapshot: Sendable {
    /// Numbers the snapshots of one store, from 1.
    package let version: Int
    package let keys: JWKSet
    /// The number of keys at the end of the set that the provider's last response omitted.
    package let omittedKeyCount: Int
    /// The `kid`s of keys that were fetched one by one, and have not verified a token yet.
    private let unprovenKeyIDs: [String]
    /// Identifies the key set (``JWKSet/fingerprint``).
    package let fingerprint: Int64
    /// The supported algorithms that the provider's discovery document lists; all, if there is no such list.
    package let algorithms: SignatureAlgorithms
    package let source: Source
    package let fetchedAt: MonotonicTime
    /// The same time on the wall clock, in Unix seconds, for display.
    package let fetchedAtUnixSeconds: Int64
    /// The minimum number of seconds by which the provider's clock was ahead of ours at the fetch; `nil` if the
    /// response had no time.
    package let clockOffsetSeconds: Int64?
    /// Those of the discovery document, if one was read for these keys. They are not archived.
    package let endpoints: DiscoveredEndpoints?
    /// Until when the provider's last complete response that bypassed caches confirms its keys; `nil` if there was
    /// none.
    private let confirmedUntil: MonotonicTime?
    /// The end of the lifetime that the provider allows.
    package let freshUntil: MonotonicTime
    /// Until when the keys may be used if they can't be refreshed.
    package let usableUntil: MonotonicTime

    package enum Source: String, Sendable {
        case network, disk, file
    }

    /// - Parameter omitted: keys that are still in use although `fetched` omits them.
    package init(
        version: Int, _ fetched: FetchedKeys, omitted: [JWK], unprovenKeyIDs: [String] = [], fetchedAt: MonotonicTime,
        confirmedUntil: MonotonicTime? = nil, freshUntil: MonotonicTime, usableUntil: MonotonicTime
    ) {
        self.version = version
        self.unprovenKeyIDs = unprovenKeyIDs
        keys = omitted.isEmpty ? fetched.keys : fetched.keys.adding(omitted)
        omittedKeyCount = keys.keys.count - fetched.keys.keys.count
        fingerprint = keys.fingerprint
        algorithms = fetched.algorithms
        source = fetched.source
        self.fetchedAt = fetchedAt
        self.confirmedUntil = confirmedUntil
        fetchedAtUnixSeconds = fetched.fetchedAtUnixSeconds
        clockOffsetSeconds = fetched.clockOffsetSeconds
        endpoints = fetched.endpoints
        self.freshUntil = freshUntil
        self.usableUntil = usableUntil
    }

    package func isStale(at now: MonotonicTime) -> Bool { now > freshUntil }
    package func isUsable(at now: MonotonicTime) -> Bool { now <= usableUntil }

    /// The `kid`s of the set in its order, without keys that have none.
    package var keyIDs: [String] { keys.keys.compactMap(\.keyID) }

    /// Whether a key of the set has this `kid`.
    package func hasKey(_ keyID: String) -> Bool { keys.hasKey(keyID) }

    /// Whether the store should learn that this key has verified a token; see ``KeyStore/prove(_:)``.
    package func isUnproven(_ keyID: String) -> Bool { unprovenKeyIDs.contains(keyID) }

    /// Whether the provider sent its complete keys recently. Then a bad signature by a known `kid` is not worth a
    /// fetch.
    package func isConfirmed(at now: MonotonicTime) -> Bool { confirmedUntil.map { now < $0 } ?? false }
}

extension KeySnapshot {
    /// The kind of fetch that could change the result of a verification with these keys; `nil` if none could.
    ///
    /// If a token names no key, all suitable keys are tried. If none verifies the token, the provider may have rotated
    /// its key: without a `kid`, the token does not show this. A provider may also replace the key that a token names,
    /// even with one of another type. If the algorithms come from the provider's own metadata, the provider may have
    /// started to use another one.
    ///
    /// - Parameters:
    ///   - error: why the signature was not verified.
    ///   - keyID: the token's `kid`.
    ///   - mayAllowAlgorithm: whether the token's algorithm is supported, and the provider's metadata decides whether it
    ///     is allowed.
    package func need(
        after error: JWSError, keyID: String?, mayAllowAlgorithm: Bool, at now: MonotonicTime
    ) -> KeyStore.StateMachine.FetchReason? {
        switch (error, keyID) {
        case (.keyNotFound, let keyID?) where !hasKey(keyID): .key(keyID)
        // The store would decide the same, but during a flood of forged tokens, each would cost a hop to the store's
        // loop.
        case (.keyNotFound, let keyID?), (.keyUnsuitable, let keyID?), (.signatureInvalid, let keyID?):
            isConfirmed(at: now) ? nil : .replacedKey(keyID)
        case (.keyNotFound, nil), (.keyUnsuitable, nil), (.signatureInvalid, nil): .newerKeys
        case (.algorithmNotAllowed, _): mayAllowAlgorithm ? .newerKeys : nil
        default: nil
        }
    }
}

/// Keys that the provider's last response omitted and that are kept for a while: one incomplete response, from a server
/// that lags behind or is half-configured, must not remove a good key.
///
/// A second consecutive complete response without the key removes it, and so does time.
struct OmittedKeys {
    private var entries: [Entry] = []

    private struct Entry {
        let key: JWK
        let until: MonotonicTime
    }

    init() {}

    /// The keys that an earlier process kept, unless their grace period is over.
    init(_ keys: [JWK], until: MonotonicTime, now: MonotonicTime) {
        if until > now { entries = keys.map { Entry(key: $0, until: until) } }
    }

    var keys: [JWK] { entries.map(\.key) }
    var isEmpty: Bool { entries.isEmpty }

    /// When the first of them expires.
    var firstEnd: MonotonicTime? { entries.lazy.map(\.until).min() }

    /// Compares a complete response with the keys in use.
    ///
    /// A key is omitted if the response does not contain it (whatever it says about its use now) and does not replace
    /// it. A replacement is a usable key with the same `kid` that was not there before.
    ///
    /// - Parameters:
    ///   - former: the keys in use until now, including keys that were already omitted once.
    ///   - until: the end of the grace period for keys that this response is the first to omit.
    mutating func compare(_ answer: JWKSet, with former: JWKSet, until: MonotonicTime) {
        let held = Set(answer.keys.map(\.identity))
        let before = Set(former.keys.map(\.identity))
        let replaced = Set(answer.keys.filter { $0.isUsable && !before.contains($0.identity) }.compactMap(\.exactKeyID))
        let omittedOnce = Set(entries.map(\.key.identity))
        entries = former.keys.filter { key in
            key.isUsable && !held.contains(key.identity) && !omittedOnce.contains(key.identity)
                && !(key.exactKeyID.map(replaced.contains) ?? false)
        }.map { Entry(key: $0, until: until) }
    }

    /// Removes keys whose grace period is over.
    ///
    /// - Returns: whether there were any.
    mutating func dropExpired(now: MonotonicTime) -> Bool {
        let count = entries.count
        entries.removeAll { $0.until <= now }
        return entries.count < count
    }

    mutating func dropAll() { entries = [] }
}

extension JWK {
    fileprivate struct Identity: Hashable {
        let keyID: ExactString?
        let thumbprint: String
    }

    fileprivate var exactKeyID: ExactString? { keyID.map(ExactString.init) }

    /// Identifies a key by its `kid` and thumbprint.
    fileprivate var identity: Identity { Identity(keyID: exactKeyID, thumbprint: thumbprint) }
}
