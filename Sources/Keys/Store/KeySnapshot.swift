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
