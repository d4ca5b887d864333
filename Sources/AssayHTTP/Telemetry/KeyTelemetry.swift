package import KeySource
private import Synchronization

/// What the key stores tell, counted for metrics and logged at each change.
package final class KeyTelemetry: Sendable {
    private let log: Log
    private let counts = Mutex<[Outcome: Int]>([:])

    struct Outcome: Hashable {
        let provider: String
        let result: Result

        enum Result: Hashable {
            case success
            case failure(FetchFailure.Phase)
            case refused
        }
    }

    package init(log: Log) { self.log = log }

    /// Takes note of one event.
    package func record(_ event: KeyEvent, provider: String) {
        switch event {
        case .fetched: count(provider, .success)
        case .unknownKeyFetchRefused: count(provider, .refused)
        case .fetchFailed(let failure, let isFirst):
            count(provider, .failure(failure.phase))
            guard isFirst else { return }
            log.write(
                .warning, "keys can't be fetched",
                [
                    ("provider", .text(provider)), ("phase", .text(failure.phase.rawValue)),
                    ("reason", .text(failure.message)),
                ])
        case .archiveRefused(let reason):
            log.write(
                .warning, "kept keys are not used", [("provider", .text(provider)), ("reason", .text(reason))])
        case .archiveFailed: log.write(.warning, "keys can't be kept on disk", [("provider", .text(provider))])
        case .keysChanged(let keyIDs):
            log.write(
                .info, "keys changed", [("provider", .text(provider)), ("key_count", .number(Int64(keyIDs.count)))])
        }
    }

    var outcomes: [Outcome: Int] { counts.withLock { $0 } }

    private func count(_ provider: String, _ result: Outcome.Result) {
        counts.withLock { $0[Outcome(provider: provider, result: result), default: 0] += 1 }
    }
}
