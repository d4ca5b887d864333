private import Glibc
private import Synchronization

/// The results of reloads of the settings file, for metrics.
package final class ConfigurationTelemetry: Sendable {
    private let counts: Mutex<Counts>

    package struct Counts {
        var successes = 0
        package var failures = 0
        var isLastSuccessful = true
        /// The start counts as the first success.
        var lastSuccessUnixSeconds: Int64
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

/// The operating system's figures for this process, under the names that Prometheus's client libraries use.
package struct ProcessUsage {
    /// User and system time.
    let cpuSeconds: Double
    package let residentBytes: Int
    let openDescriptors: Int
    let descriptorLimit: Int

    /// The current figures; unknown ones are 0.
    package static func now() -> ProcessUsage {
        var usage = rusage()
        let isKnown = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0
        var limit = rlimit()
        let isLimited = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return ProcessUsage(
            cpuSeconds: isKnown ? usage.ru_utime.seconds + usage.ru_stime.seconds : 0,
            residentBytes: residentPages() * Int(sysconf(Int32(_SC_PAGESIZE))), openDescriptors: descriptors(),
            descriptorLimit: isLimited ? Int(clamping: limit.rlim_cur) : 0)
    }

    /// The second number of `/proc/self/statm`.
    private static func residentPages() -> Int {
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = unsafe read(file, &text, text.count)
        let numbers = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    }

    private static func descriptors() -> Int {
        guard let directory = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        // Without `.`, `..`, and the descriptor of this directory.
        return max(0, count - 3)
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
}
