import FoundationEssentials
import Settings

extension MemoryLimit {
    /// That of this process, in bytes; `nil` where there is none, or nothing to say so.
    static let bytes: Int? = read { try? String(contentsOfFile: $0, encoding: .utf8) }
}
