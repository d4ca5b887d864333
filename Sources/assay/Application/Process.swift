import FoundationEssentials
import Glibc
import NIOCore
import Settings
import UnixSignals

/// The processors that this process may use.
enum Processors {
    /// The number of processors, limited by the cgroup's CPU quota and cpuset, and by the process's own affinity
    /// (`taskset`, systemd's `CPUAffinity`).
    ///
    /// Event loops that share a processor get time slices of milliseconds, so one loop's requests wait for the other's:
    /// with two loops on one processor, the 99th percentile was 6 ms instead of 2.
    static let count: Int = min(System.coreCount, allowedByAffinity ?? .max)

    /// `nil` if there is no `/proc`.
    private static var allowedByAffinity: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return allowed(by: status)
    }

    /// Counts the bits in `/proc/self/status`: one for each processor, in hexadecimal digits with commas (proc(5)).
    static func allowed(by status: String) -> Int? {
        let name = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
        let bits = line.dropFirst(name.count).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
        return bits > 0 ? bits : nil
    }
}

/// The process's limit on open files and sockets.
enum DescriptorLimit {
    /// Raises the limit as far as the system allows: a shell's or systemd's usual 1024 is far below `max_connections`.
    ///
    /// - Returns: the current limit.
    static func raise() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        limit.rlim_cur = limit.rlim_max
        // If it can't be raised, the returned limit says so.
        unsafe setrlimit(resource, &limit)
        guard unsafe getrlimit(resource, &limit) == 0 else { return 0 }
        return Int(clamping: limit.rlim_cur)
    }
}

extension MemoryLimit {
    /// The memory limit of this process in bytes; `nil` if there is none or it is unknown.
    static let bytes: Int? = read { try? String(contentsOfFile: $0, encoding: .utf8) }
}

/// The signals that stop the process, caught from the moment of creation.
struct StopSignals: Sendable {
    /// Streams without elements that end at the first and at the second signal.
    private let first: AsyncStream<Never>
    private let second: AsyncStream<Never>

    init() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let (first, firstSource) = AsyncStream.makeStream(of: Never.self)
        let (second, secondSource) = AsyncStream.makeStream(of: Never.self)
        (self.first, self.second) = (first, second)
        // A sequence of signals can be iterated only once.
        Task {
            var sources = [firstSource, secondSource][...]
            for await _ in signals { sources.popFirst()?.finish() }
        }
    }

    /// Returns at the first SIGTERM or SIGINT, even if it came before the call, or when the task is cancelled.
    func wait() async { for await _ in first {} }

    /// Returns at the second SIGTERM or SIGINT, even if it came before the call, or when the task is cancelled.
    func waitForAnother() async { for await _ in second {} }
}
