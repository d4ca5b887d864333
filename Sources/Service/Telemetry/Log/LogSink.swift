private import Glibc
private import NIOPosix
private import Synchronization

/// Accepts log lines from any thread, and writes them to standard error from its own thread, so that a slow reader of
/// the log never delays a request.
///
/// Lines that don't fit into a bounded buffer are dropped and counted.
package final class LogSink: Sendable {
    private struct Pending {
        var bytes: [UInt8] = []
        var isWriting = false
        var droppedBytes = 0
    }

    private let pending = Mutex(Pending())
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private static let maximumPending = 4 * 1024 * 1024

    private let isDiscarding: Bool

    /// - Parameter isDiscarding: whether to write nothing, for a command with its own output.
    package init(isDiscarding: Bool = false) {
        self.isDiscarding = isDiscarding
        thread.start()
    }

    /// Queues complete lines, each with its line feed.
    package func write(_ lines: [UInt8]) {
        if isDiscarding { return }
        let mustStart = pending.withLock { pending in
            guard pending.bytes.count + lines.count <= Self.maximumPending else {
                pending.droppedBytes += lines.count
                return false
            }
            pending.bytes += lines
            guard !pending.isWriting else { return false }
            pending.isWriting = true
            return true
        }
        if mustStart { thread.submit { _ in self.drain() } }
    }

    /// The bytes of log lines dropped since the start.
    package var droppedBytes: Int { pending.withLock { $0.droppedBytes } }

    /// Waits until everything queued has been written, then stops.
    package func close() async {
        // The pool has no other work and does not fail.
        try? await thread.runIfActive { self.drain() }
        try? await thread.shutdownGracefully()
    }

    private func drain() {
        while true {
            let bytes = pending.withLock { pending -> [UInt8] in
                defer { pending.bytes.removeAll(keepingCapacity: false) }
                if pending.bytes.isEmpty { pending.isWriting = false }
                return pending.bytes
            }
            if bytes.isEmpty { return }
            Self.writeToStandardError(bytes)
        }
    }

    private static func writeToStandardError(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                let written = unsafe Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                if written > 0 {
                    unsafe rest = rest.dropFirst(written)
                } else if errno != EINTR {
                    // The reader of the log is gone.
                    return
                }
            }
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var baseAddress: UnsafeRawPointer? { unsafe UnsafeRawBufferPointer(rebasing: self).baseAddress }
}
