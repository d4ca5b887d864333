package import Host
package import JOSE

/// What a fetch brought home.
package struct FetchedKeys: Sendable {
    package let keys: JWKSet
    /// The set's own JSON text.
    package let text: [UInt8]
    package let algorithms: SignatureAlgorithms
    package let source: KeySnapshot.Source
    /// How long the provider lets us keep the keys; `nil` where it does not say.
    package let lifetime: Interval?
    package let fetchedAtUnixSeconds: Int64
    /// Whether the provider only confirmed the set it had sent before, instead of sending it whole.
    package let isNotModified: Bool
    /// Seconds by which the provider's clock is ahead of ours at least; 0 where both may show the same, `nil` where nothing
    /// tells its time.
    package let clockOffsetSeconds: Int64?

    package init(
        keys: JWKSet, text: [UInt8], algorithms: SignatureAlgorithms, source: KeySnapshot.Source,
        lifetime: Interval?, fetchedAtUnixSeconds: Int64, isNotModified: Bool = false,
        clockOffsetSeconds: Int64? = nil
    ) {
        self.keys = keys
        self.text = text
        self.algorithms = algorithms
        self.source = source
        self.lifetime = lifetime
        self.fetchedAtUnixSeconds = fetchedAtUnixSeconds
        self.isNotModified = isNotModified
        self.clockOffsetSeconds = clockOffsetSeconds
    }
}

/// Brings a provider's keys home, from wherever they are.
package protocol KeyFetching: Sendable {
    /// Fetches once. Always returns, within a bound of the fetcher's own.
    func fetch(_ mode: FetchMode) async throws(FetchFailure) -> FetchedKeys
}

/// What a fetch may be content with.
package enum FetchMode: Sendable, Equatable {
    /// The provider's word that nothing has changed will do: the keys are only to be kept fresh.
    case revalidate
    /// The whole set, and past any cache on the way: what we and they hold is what is in doubt.
    case reload
}
