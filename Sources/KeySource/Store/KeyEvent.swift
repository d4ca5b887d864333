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
    /// An unknown `kid`, a bad signature or a need for newer keys caused a fetch.
    case unknownKeyFetchSpent
    case unknownKeyFetchRefused
    /// The keys on disk are not used.
    case archiveRefused(reason: String)
    /// The keys could not be written to disk.
    case archiveFailed
    /// The fallback was needed, but has no keys either.
    case fallbackFailed(FetchFailure)
}
