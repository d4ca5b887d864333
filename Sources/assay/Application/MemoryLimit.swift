import FoundationEssentials
import Settings

extension MemoryLimit {
    /// The memory limit of this process in bytes; `nil` if there is none or it is unknown.
    static let bytes: Int? = read { try? String(contentsOfFile: $0, encoding: .utf8) }
}
