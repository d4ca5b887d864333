package import KeySource
private import Synchronization

/// Counts the events of key stores for metrics, logs changes, and keeps a history.
package final class KeyTelemetry: Sendable {
    private let log: Log
    private let unixSeconds: @Sendable () -> Int64
    private let counts = Mutex(Counts())
    private let histories = Mutex<[String: KeyHistory]>([:])

    package struct Counts {
        /// Fetches by provider and phase of failure; `nil` for successful ones.
        package var fetches: [Fetch: Int] = [:]
        /// Fetches caused by a token's unknown `kid`, bad signature or unlisted algorithm, by provider.
        package var unknownKeyFetches: [String: Int] = [:]
        /// Fetches for these reasons that the budget did not allow, by provider.
        package var refusals: [String: Int] = [:]
    }

    package struct Fetch: Hashable {
        package let provider: String
        package let failedPhase: FetchFailure.Phase?
    }

    /// - Parameter unixSeconds: the wall clock, for the history.
    package init(log: Log, unixSeconds: @escaping @Sendable () -> Int64) {
        self.log = log
        self.unixSeconds = unixSeconds
    }

    /// Records an event.
    package func record(_ event: KeyEvent, provider: String) {
        let now = unixSeconds()
        histories.withLock { $0[provider, default: KeyHistory()].note(event, atUnixSeconds: now) }
        switch event {
        case .fetched: count(provider, failedPhase: nil)
        case .unknownKeyFetchSpent: counts.withLock { $0.unknownKeyFetches[provider, default: 0] += 1 }
        case .unknownKeyFetchRefused: counts.withLock { $0.refusals[provider, default: 0] += 1 }
        case .fetchFailed(let failure, let isFirst):
            count(provider, failedPhase: failure.phase)
            // One line for each outage, unless the level is `debug`.
            log.write(
                isFirst ? .warning : .debug, "keys can't be fetched",
                [
                    ("provider", .text(provider)), ("phase", .text(failure.phase.rawValue)),
                    ("reason", .text(failure.message)),
                ])
        case .archiveRefused(let reason):
            log.write(
                .warning, "cached keys rejected", [("provider", .text(provider)), ("reason", .text(reason))])
        case .archiveFailed: log.write(.warning, "keys can't be cached on disk", [("provider", .text(provider))])
        case .fallbackFailed(let failure):
            log.write(
                .warning, "fallback keys can't be read",
                [("provider", .text(provider)), ("reason", .text(failure.message))])
        case .stateChanged(let state):
            log.write(
                state == .ready ? .info : .warning, "key state changed",
                [("provider", .text(provider)), ("state", .text(state.rawValue))])
        case .recovered: log.write(.info, "keys can be fetched again", [("provider", .text(provider))])
        case .keysChanged(let keyIDs):
            log.write(
                .info, "keys changed", [("provider", .text(provider)), ("named_keys", .number(Int64(keyIDs.count)))])
        }
    }

    package var current: Counts { counts.withLock { $0 } }

    /// The recent events of a provider's keys.
    package func history(of provider: String) -> KeyHistory { histories.withLock { $0[provider] } ?? KeyHistory() }

    private func count(_ provider: String, failedPhase: FetchFailure.Phase?) {
        counts.withLock { $0.fetches[Fetch(provider: provider, failedPhase: failedPhase), default: 0] += 1 }
    }
}
