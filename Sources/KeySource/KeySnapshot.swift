package import Clocks
package import JOSE

/// A provider's keys at one moment: immutable, and handed to every thread that verifies.
package struct KeySnapshot: Sendable {
    /// Counts the snapshots of one store, from 1.
    package let version: Int
    package let keys: JWKSet
    /// The algorithms that the provider's discovery document lists and we support; all, where there is no such list.
    package let algorithms: Set<SignatureAlgorithm>
    package let source: Source
    package let fetchedAt: MonotonicTime
    /// The same moment by the wall clock, in Unix seconds, for people.
    package let fetchedAtUnixSeconds: Int64
    /// Until when the provider lets us keep the keys.
    package let freshUntil: MonotonicTime
    /// Until when the keys may verify although they can't be refreshed.
    package let usableUntil: MonotonicTime

    package enum Source: String, Sendable {
        case network, disk, file
    }

    package func isStale(at now: MonotonicTime) -> Bool { now > freshUntil }
    package func isUsable(at now: MonotonicTime) -> Bool { now <= usableUntil }

    /// The `kid`s of the set, in its order; keys without one left out.
    package var keyIDs: [String] { keys.keys.compactMap(\.keyID) }

    /// Whether a key of the set carries this `kid`.
    package func hasKey(_ keyID: String) -> Bool { keys.hasKey(keyID) }
}

/// What a fetch brought home.
package struct FetchedKeys: Sendable {
    package let keys: JWKSet
    /// The set's own JSON text.
    package let text: [UInt8]
    package let algorithms: Set<SignatureAlgorithm>
    package let source: KeySnapshot.Source
    /// How long the provider lets us keep the keys; `nil` where it does not say.
    package let lifetime: Interval?
    package let fetchedAtUnixSeconds: Int64

    package init(
        keys: JWKSet, text: [UInt8], algorithms: Set<SignatureAlgorithm>, source: KeySnapshot.Source,
        lifetime: Interval?, fetchedAtUnixSeconds: Int64
    ) {
        self.keys = keys
        self.text = text
        self.algorithms = algorithms
        self.source = source
        self.lifetime = lifetime
        self.fetchedAtUnixSeconds = fetchedAtUnixSeconds
    }
}

/// Why keys could not be fetched: text written here, never a body, never a secret.
package struct FetchFailure: Error, Sendable, Equatable {
    package let phase: Phase
    package let message: String

    package enum Phase: String, Sendable, CaseIterable {
        case dns, address, connect, tls, http, parse, file
    }

    package init(_ phase: Phase, _ message: String) {
        self.phase = phase
        self.message = message
    }
}
