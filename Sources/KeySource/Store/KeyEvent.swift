/// What a key store tells of itself, for logs and metrics.
package enum KeyEvent: Sendable, Equatable {
    case fetched
    /// - Parameter isFirst: whether the fetch before it had not failed: one line at each change, not one a failure.
    case fetchFailed(FetchFailure, isFirst: Bool)
    /// A fetch succeeded after others had failed.
    case recovered
    case keysChanged(keyIDs: [String])
    /// Keys have become ready, stale or unavailable, by an answer or by the passing of time.
    case stateChanged(KeyState)
    /// An unknown `kid` caused a fetch.
    case unknownKeyFetchSpent
    case unknownKeyFetchRefused
    /// What was on disk is not used.
    case archiveRefused(reason: String)
    /// Keys could not be kept on disk.
    case archiveFailed
    /// There was need of the fallback, and it has no keys either.
    case fallbackFailed(FetchFailure)
}
