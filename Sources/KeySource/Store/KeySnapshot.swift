package import Host
package import JOSE

/// A provider's keys at one moment: immutable, and handed to every thread that verifies.
package struct KeySnapshot: Sendable {
    /// Counts the snapshots of one store, from 1.
    package let version: Int
    package let keys: JWKSet
    /// How many at the end of the set the provider's last answer left out.
    package let omittedKeyCount: Int
    /// Tells key sets apart (``JWKSet/fingerprint``).
    package let fingerprint: Int64
    /// The algorithms that the provider's discovery document lists and we support; all, where there is no such list.
    package let algorithms: SignatureAlgorithms
    package let source: Source
    package let fetchedAt: MonotonicTime
    /// The same moment by the wall clock, in Unix seconds, for people.
    package let fetchedAtUnixSeconds: Int64
    /// Seconds by which the provider's clock was ahead of ours at least when the keys were fetched; `nil` where it told no
    /// time.
    package let clockOffsetSeconds: Int64?
    /// Until when the provider's last whole answer, fetched past caches, counts as news; `nil` where there was none.
    private let confirmedUntil: MonotonicTime?
    /// Until when the provider lets us keep the keys.
    package let freshUntil: MonotonicTime
    /// Until when the keys may verify although they can't be refreshed.
    package let usableUntil: MonotonicTime

    package enum Source: String, Sendable {
        case network, disk, file
    }

    /// - Parameter omitted: keys that `fetched` leaves out and that serve on.
    package init(
        version: Int, _ fetched: FetchedKeys, omitted: [JWK], fetchedAt: MonotonicTime,
        confirmedUntil: MonotonicTime? = nil, freshUntil: MonotonicTime, usableUntil: MonotonicTime
    ) {
        self.version = version
        keys = omitted.isEmpty ? fetched.keys : fetched.keys.adding(omitted)
        omittedKeyCount = keys.keys.count - fetched.keys.keys.count
        fingerprint = keys.fingerprint
        algorithms = fetched.algorithms
        source = fetched.source
        self.fetchedAt = fetchedAt
        self.confirmedUntil = confirmedUntil
        fetchedAtUnixSeconds = fetched.fetchedAtUnixSeconds
        clockOffsetSeconds = fetched.clockOffsetSeconds
        self.freshUntil = freshUntil
        self.usableUntil = usableUntil
    }

    package func isStale(at now: MonotonicTime) -> Bool { now > freshUntil }
    package func isUsable(at now: MonotonicTime) -> Bool { now <= usableUntil }

    /// The `kid`s of the set, in its order; keys without one left out.
    package var keyIDs: [String] { keys.keys.compactMap(\.keyID) }

    /// Whether a key of the set carries this `kid`.
    package func hasKey(_ keyID: String) -> Bool { keys.hasKey(keyID) }

    /// Whether the provider sent its keys whole a short while ago: another key under the `kid` of one of them is not worth
    /// a fetch.
    package func isConfirmed(at now: MonotonicTime) -> Bool { confirmedUntil.map { now < $0 } ?? false }
}
