import FoundationEssentials
import NIOCore

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
