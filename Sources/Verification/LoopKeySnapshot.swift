internal import Host
internal import JOSE
package import KeySource

/// One event loop's latest copy of a provider's keys. Confined to that loop.
///
/// It is separate from the settings, because the keys survive a change of the settings.
package final class LoopKeySnapshot {
    private(set) var latest: Latest?
    /// The endpoints in the provider's latest discovery document; `nil` before the first one has been read.
    package private(set) var endpoints: DiscoveredEndpoints?

    package init() {}

    package func install(_ snapshot: KeySnapshot) {
        latest = Latest(snapshot)
        // Keys from the disk or from a file come without endpoints.
        if let found = snapshot.endpoints { endpoints = found }
    }

    package var snapshot: KeySnapshot? { latest?.snapshot }

    final class Latest {
        let snapshot: KeySnapshot
        /// The snapshot's keys.
        let keys: JWKSet
        let algorithms: SignatureAlgorithms
        let usableUntil: MonotonicTime

        init(_ snapshot: KeySnapshot) {
            self.snapshot = snapshot
            keys = snapshot.keys.copied()
            algorithms = snapshot.algorithms
            usableUntil = snapshot.usableUntil
        }

        func used(at now: MonotonicTime) -> KeysUsed {
            KeysUsed(snapshot.source, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil, now: now)
        }
    }
}
