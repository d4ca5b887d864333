private import Synchronization

/// The results of reloads of the settings file, for metrics.
package final class ConfigurationTelemetry: Sendable {
    private let counts: Mutex<Counts>

    package struct Counts {
        package var successes = 0
        package var failures = 0
        package var isLastSuccessful = true
        /// The start counts as the first success.
        package var lastSuccessUnixSeconds: Int64
    }

    /// - Parameter startedAtUnixSeconds: when the service loaded its first settings.
    package init(startedAtUnixSeconds: Int64) {
        counts = Mutex(Counts(lastSuccessUnixSeconds: startedAtUnixSeconds))
    }

    package func recordSuccess(atUnixSeconds now: Int64) {
        counts.withLock { counts in
            counts.successes += 1
            counts.isLastSuccessful = true
            counts.lastSuccessUnixSeconds = now
        }
    }

    package func recordFailure() {
        counts.withLock { counts in
            counts.failures += 1
            counts.isLastSuccessful = false
        }
    }

    package var current: Counts { counts.withLock { $0 } }
}
