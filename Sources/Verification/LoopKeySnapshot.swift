internal import Host
internal import JOSE
package import KeySource

/// A provider's keys as one event loop last heard of them. Confined to that loop.
///
/// An object of its own, since it outlasts the settings: whatever they make of the provider, its keys stay what they are.
package final class LoopKeySnapshot {
    private(set) var latest: Latest?

    package init() {}

    /// Takes over the provider's new keys.
    package func install(_ snapshot: KeySnapshot) { latest = Latest(snapshot) }

    package var snapshot: KeySnapshot? { latest?.snapshot }

    final class Latest {
        let snapshot: KeySnapshot
        /// Those of the snapshot.
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
