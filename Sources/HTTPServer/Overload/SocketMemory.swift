private import Glibc
internal import NIOCore

/// The memory that the kernel holds for a socket.
enum SocketMemory {
    /// Indices into the result of `SO_MEMINFO` (linux/sock_diag.h).
    private static let received = 0
    private static let sending = 2
    private static let queued = 5
    private static let count = 9

    /// Bytes of the socket's buffers: received and not read, written and not acknowledged, including the kernel's
    /// overhead. 0 if the kernel does not report it.
    static func bytes(of socket: NIOBSDSocket.Handle) -> Int {
        unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: count) { info in
            unsafe info.initialize(repeating: 0)
            var length = socklen_t(count * MemoryLayout<UInt32>.size)
            guard unsafe getsockopt(socket, SOL_SOCKET, SO_MEMINFO, info.baseAddress, &length) == 0 else { return 0 }
            // TCP counts bytes to send in one field, a Unix domain socket in the other.
            return unsafe Int(info[received]) + Int(max(info[sending], info[queued]))
        }
    }

    /// Makes the kernel drop the socket's data when it is closed, instead of keeping it for a client that does not
    /// read.
    static func dropAtClose(_ socket: NIOBSDSocket.Handle) {
        var atOnce = linger(l_onoff: 1, l_linger: 0)
        // If this fails, the kernel drops the data later.
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    }
}
