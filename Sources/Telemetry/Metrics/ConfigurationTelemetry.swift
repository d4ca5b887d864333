private import Synchronization

/// What became of the settings file each time that it was read again, for metrics.
package final class ConfigurationTelemetry: Sendable {
    private let counts: Mutex<Counts>

    package struct Counts {
        package var successes = 0
        package var failures = 0
        package var isLastSuccessful = true
        /// The start is the first.
        package var lastSuccessUnixSeconds: Int64
    }

    /// - Parameter startedAtUnixSeconds: when the service took its first settings.
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
