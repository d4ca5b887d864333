package import HTTP
package import JOSE

/// The result of a fetch.
package struct FetchedKeys: Sendable {
    package let keys: JWKSet
    /// The JSON text of the set as it was read; empty if it is not kept.
    package let text: [UInt8]
    package let algorithms: SignatureAlgorithms
    package let source: KeySnapshot.Source
    /// How long the provider lets clients cache the keys; `nil` if it does not say.
    package let lifetime: Interval?
    package let fetchedAtUnixSeconds: Int64
    /// Whether the provider confirmed the previous set (304 Not Modified) instead of sending it.
    package let isNotModified: Bool
    /// The minimum number of seconds by which the provider's clock is ahead of ours; 0 if the clocks may agree, `nil`
    /// if the response has no time.
    package let clockOffsetSeconds: Int64?
    /// Those of the discovery document; `nil` if none was read.
    package let endpoints: DiscoveredEndpoints?

    package init(
        keys: JWKSet, text: [UInt8] = [], algorithms: SignatureAlgorithms, source: KeySnapshot.Source,
        lifetime: Interval?, fetchedAtUnixSeconds: Int64, isNotModified: Bool = false,
        clockOffsetSeconds: Int64? = nil, endpoints: DiscoveredEndpoints? = nil
    ) {
        self.keys = keys
        self.text = text
        self.algorithms = algorithms
        self.source = source
        self.lifetime = lifetime
        self.fetchedAtUnixSeconds = fetchedAtUnixSeconds
        self.isNotModified = isNotModified
        self.clockOffsetSeconds = clockOffsetSeconds
        self.endpoints = endpoints
    }
}

extension FetchedKeys {
    /// The same result with some of its keys.
    func keeping(where isKept: (JWK) -> Bool) -> FetchedKeys {
        let kept = JWKSet.empty.adding(keys.keys.filter(isKept))
        return FetchedKeys(
            keys: kept, algorithms: algorithms, source: source, lifetime: lifetime,
            fetchedAtUnixSeconds: fetchedAtUnixSeconds, isNotModified: isNotModified,
            clockOffsetSeconds: clockOffsetSeconds, endpoints: endpoints)
    }
}

/// Fetches a provider's keys from their location.
package protocol KeyFetching: Sendable {
    /// Fetches once. Always returns within the fetcher's own timeout.
    ///
    /// - Parameter keyIDs: the keys to ask for, if the location has no list of its keys; otherwise ignored.
    func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys
}

extension KeyFetching {
    /// Fetches the keys of a location that lists them.
    package func fetch(_ mode: FetchMode) async throws(FetchFailure) -> FetchedKeys {
        try await fetch(mode, keyIDs: [])
    }
}

/// How fresh the result of a fetch must be.
package enum FetchMode: Sendable, Equatable {
    /// A 304 Not Modified is enough: the keys only have to be kept fresh.
    case revalidate
    /// The complete set, bypassing intermediate caches, because the current keys may be out of date.
    case reload
}
