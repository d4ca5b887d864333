internal import Keys

extension RemoteKeySet {
    /// A change of the keys, or an attempt to fetch them. A new version may add cases.
    public enum Event: Sendable, Equatable, CustomStringConvertible {
        case fetched
        /// - Parameters:
        ///   - reason: what failed, in words, without anything secret.
        ///   - isFirst: whether the fetch before succeeded.
        case fetchFailed(reason: String, isFirst: Bool)
        /// A fetch succeeded after failures.
        case recovered
        /// Other keys are in use.
        case keysChanged(keyIDs: [String])
        /// The keys became ready, stale or unavailable.
        case stateChanged(State)
        /// A token's unknown or doubtful key caused no fetch, because such tokens have caused too many.
        case fetchForTokenRefused
        /// The keys in the cache directory are not used, or could not be written.
        case cacheFailed(reason: String)

        public var description: String {
            switch self {
            case .fetched: "keys fetched"
            case .fetchFailed(let reason, _): "fetch of keys failed: \(reason)"
            case .recovered: "keys can be fetched again"
            case .keysChanged(let keyIDs): "keys in use: \(keyIDs.joined(separator: ", "))"
            case .stateChanged(let state): "keys are \(state)"
            case .fetchForTokenRefused: "too many tokens need unknown keys; no fetch"
            case .cacheFailed(let reason): "keys on disk: \(reason)"
            }
        }

        /// `nil` for an event that says nothing more.
        init?(_ event: KeyEvent) {
            switch event {
            case .fetched: self = .fetched
            case .fetchFailed(let failure, let isFirst): self = .fetchFailed(reason: failure.message, isFirst: isFirst)
            case .recovered: self = .recovered
            case .keysChanged(let keyIDs): self = .keysChanged(keyIDs: keyIDs)
            case .stateChanged(let state): self = .stateChanged(State(state))
            case .unknownKeyFetchRefused: self = .fetchForTokenRefused
            case .archiveRefused(let reason): self = .cacheFailed(reason: reason)
            case .archiveFailed: self = .cacheFailed(reason: "they could not be written")
            case .unknownKeyFetchSpent, .fallbackFailed: return nil
            }
        }
    }
}
