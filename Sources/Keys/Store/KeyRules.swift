package import HTTP

/// The parameters of a key store.
package struct KeyRules: Sendable {
    /// The shortest time for which keys are cached, even if the provider allows less: Apple has sent headers that
    /// forbid caching.
    var minimumLifetime = Interval.seconds(5 * 60)
    /// The longest time for which keys are cached.
    var maximumLifetime = Interval.seconds(24 * 3600)
    /// When keys are refreshed, as a fraction of their lifetime: before its end, and at a random time, so that
    /// instances that fetched together don't refresh together.
    package var refreshAhead = 0.75..<0.9
    /// How often keys are polled whatever their lifetime, for a location where that costs nothing.
    package var pollInterval: Interval?
    /// How long keys may be used after their lifetime while the provider can't be reached (stale-if-error).
    package var staleIfError = Interval.seconds(24 * 3600)
    /// The longest time for which a key that the provider's last response omitted is kept.
    var graceForOmittedKeys = Interval.seconds(3600)
    /// The most fetches within ``tokenFetchWindow`` that tokens with an unknown `kid` may cause, and the same number for
    /// tokens that fit no current key: a bad signature by a known one, no `kid`, or another algorithm.
    package var tokenFetches = 2
    var tokenFetchWindow = Interval.seconds(30)
    /// How long a negative result is remembered. Until then, no further fetch is made for a `kid` that a fetch did not
    /// find, or for a bad signature by a key that a complete response confirmed.
    package var missingKeyMemory = Interval.seconds(30)
    package var rememberedMissingKeys = 1024
    /// The minimum time between fetches that operators request; requests in between share the next fetch.
    var refreshInterval = Interval.seconds(1)
    package var minimumBackoff = Interval(milliseconds: 500)
    package var firstBackoff = Interval.seconds(1)
    package var maximumBackoff = Interval.seconds(5 * 60)
    /// Whether there is a fallback to use until the provider delivers keys.
    package var hasFallback = false
    /// Whether keys are fetched one by one, by the `kid`s of tokens, because the provider publishes no list.
    package var findsKeysByID = false
    /// Whether keys are fetched only for requests: first when one needs them, and ahead of their end while they are
    /// used. Then nothing refreshes unused keys, so expired ones are used only once a fetch has failed.
    package var isLazy = false
    /// How many fetches have failed in a row before this store was created.
    package var priorFailures = 0

    package init() {}

    /// How long keys are cached, given the lifetime that the provider states, if any.
    func lifetime(_ stated: Interval?) -> Interval {
        min(max(stated ?? minimumLifetime, minimumLifetime), maximumLifetime)
    }

    /// For keys in a local file.
    package static var file: KeyRules {
        var rules = KeyRules()
        rules.minimumLifetime = .seconds(60)
        rules.maximumLifetime = .seconds(60)
        rules.pollInterval = .seconds(2)
        rules.maximumBackoff = .seconds(2)
        return rules
    }
}

/// An event of a key store, for logs and metrics.
package enum KeyEvent: Sendable, Equatable {
    case fetched
    /// - Parameter isFirst: whether the previous fetch succeeded, so that the log has one line for each outage.
    case fetchFailed(FetchFailure, isFirst: Bool)
    /// A fetch succeeded after failures.
    case recovered
    case keysChanged(keyIDs: [String])
    /// The keys became ready, stale or unavailable, by a response or by the passing of time.
    case stateChanged(KeyState)
    /// A token caused a fetch: by an unknown `kid`, a bad signature or a need for newer keys.
    case tokenFetchBegan
    case tokenFetchRefused
    /// The keys on disk are not used.
    case archiveRefused(reason: String)
    /// The keys could not be written to disk.
    case archiveFailed
    /// The fallback was needed, but has no keys either.
    case fallbackFailed(FetchFailure)
}

/// Whether a provider's keys can be used.
package enum KeyState: String, Sendable, CaseIterable {
    case ready
    /// Past their lifetime, but still used because the provider can't be reached.
    case stale
    case unavailable

    package init(_ snapshot: KeySnapshot?, at now: MonotonicTime) {
        guard let snapshot, snapshot.isUsable(at: now) else {
            self = .unavailable
            return
        }
        self = snapshot.isStale(at: now) ? .stale : .ready
    }
}
