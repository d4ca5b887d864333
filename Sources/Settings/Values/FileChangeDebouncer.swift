package import HTTP

/// Detects when a polled file has changed, once the change is stable.
///
/// Compares the content rather than the file: Kubernetes swaps a symbolic link to the directory of a mounted file, and
/// editors write a new file and rename it. A file written in place may be observed half-written, and half a YAML file
/// may well be valid. So a change counts only after it has remained the same for a while.
package struct FileChangeDebouncer<Content: Equatable & Sendable>: Sendable {
    private var read: Content
    private var change: (content: Content, seenAt: MonotonicTime)?
    private let rest: Interval

    /// - Parameters:
    ///   - read: the content that was last used.
    ///   - rest: how long a change must have been stable.
    package init(read: Content, rest: Interval) {
        self.read = read
        self.rest = rest
    }

    /// Records the current content.
    ///
    /// - Returns: whether to use it: it differs from the content last used, and is stable.
    package mutating func observe(_ content: Content, at now: MonotonicTime) -> Bool {
        guard content != read else {
            change = nil
            return false
        }
        guard let change, change.content == content else {
            change = (content, now)
            return false
        }
        return now - change.seenAt >= rest
    }

    /// Records the content that was used, whether or not it was observed before.
    package mutating func didRead(_ content: Content) {
        read = content
        change = nil
    }
}
