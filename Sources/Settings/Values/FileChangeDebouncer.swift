package import Host

/// Tells when a file that is looked at now and then has changed, and has come to rest.
///
/// What counts is the content, not the file: Kubernetes changes a mounted file by way of a link to its folder, and editors
/// write another file and rename it. A file that is written in place may be seen half-written, and half a YAML file may well
/// be a good one; so a change counts once it has been seen unchanged for a while.
package struct FileChangeDebouncer<Content: Equatable & Sendable>: Sendable {
    private var read: Content
    private var change: (content: Content, seenAt: MonotonicTime)?
    private let rest: Interval

    /// - Parameters:
    ///   - read: what was in the file when it was last read.
    ///   - rest: how long a change must have been there.
    package init(read: Content, rest: Interval) {
        self.read = read
        self.rest = rest
    }

    /// Takes note of what is in the file now.
    ///
    /// - Returns: whether it is to be read: it is not what was read last, and has been like this for a while.
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

    /// Takes note of what was read, at a look or without one.
    package mutating func didRead(_ content: Content) {
        read = content
        change = nil
    }
}
