import FoundationEssentials
import NIOCore

/// The processors that this process may use.
enum Processors {
    /// How many there are, by the control group's quota and set and by the process's own affinity (`taskset`, systemd's
    /// `CPUAffinity`).
    ///
    /// Event loops that share a processor take turns of milliseconds on it, and every request of the one waits for the turn
    /// of the other: with two on one, the 99th percentile was 6 ms where one alone has 2.
    static let count: Int = min(System.coreCount, allowedByAffinity ?? .max)

    /// `nil` where there is no `/proc` to say.
    private static var allowedByAffinity: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return allowed(by: status)
    }

    /// What `/proc/self/status` says: a bit for each processor, in hexadecimal digits with commas (proc(5)).
    static func allowed(by status: String) -> Int? {
        let name = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
        let bits = line.dropFirst(name.count).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
        return bits > 0 ? bits : nil
    }
}
