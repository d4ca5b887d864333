private import Glibc
internal import NIOCore

/// One connection's share of the listener's counts, so that all of it is released when the connection closes.
struct ConnectionQuota {
    private let counts: ListenerCounts
    private var admission = Admission.none
    /// Whether an incomplete request is counted.
    private var isReading = false
    /// Bytes of requests.
    private var heldBytes = 0
    /// Bytes of responses.
    private(set) var unreadBytes = 0

    enum Admission {
        case none
        case admitted
        /// Over the limit; the client gets a 503.
        case refused
    }

    init(_ counts: ListenerCounts) { self.counts = counts }

    /// Counts the connection, if there is room for it.
    mutating func open() -> Admission {
        admission = counts.admitConnection() ? .admitted : counts.admitRefusal() ? .refused : .none
        return admission
    }

    mutating func close() {
        endRequest()
        _ = hold(0)
        holdUnread(0)
        switch admission {
        case .none: break
        case .admitted: counts.connectionClosed()
        case .refused: counts.refusalClosed()
        }
        admission = .none
    }

    /// Counts an incomplete request.
    mutating func beginReading() {
        guard !isReading else { return }
        isReading = true
        counts.readingBegan()
    }

    /// Counts a request that waits for its response, unless there are too many or they hold too many bytes.
    ///
    /// - Returns: the cost to pass to ``ListenerCounts/waitingEnded(_:)`` once the response is there, even if the
    ///   client has disconnected by then, because the memory is held until then. `nil` if there is no room.
    mutating func beginWaiting(_ cost: WaitingCost) -> WaitingCost? {
        guard counts.admitWaiting(cost) else { return nil }
        endRequest()
        return cost
    }

    mutating func endRequest() {
        guard isReading else { return }
        isReading = false
        counts.readingEnded()
    }

    /// Counts the bytes that the connection now holds, unless the total over all connections would exceed the limit.
    mutating func hold(_ bytes: Int) -> Bool {
        if bytes > heldBytes, !counts.admitBytes(bytes - heldBytes) { return false }
        if bytes < heldBytes { counts.release(bytes: heldBytes - bytes) }
        heldBytes = bytes
        return true
    }

    /// Counts the response bytes that the client has not read. They already exist, so this can't fail: if there are too
    /// many, slow readers are closed.
    mutating func holdUnread(_ bytes: Int) {
        guard bytes != unreadBytes else { return }
        counts.unreadChanged(by: bytes - unreadBytes)
        unreadBytes = bytes
    }
}

/// Divides the file descriptors of the process.
package struct DescriptorBudget {
    /// Reserved for key fetches, calls to providers, the replay store, files, the log, the event loops and name
    /// lookups, so that clients can't use up the descriptors that the service itself needs.
    package let reserve: Int
    private let limit: Int
    /// The settings may allow more calls, but they are not all in flight at once.
    private static let maximumCalls = 4096

    /// - Parameters:
    ///   - limit: the limit of the process.
    ///   - fetches: how many key fetches may be in flight.
    ///   - storeLoops: event loops with connections to a replay store.
    ///   - calls: how many calls to providers may be in flight.
    package init(limit: Int, fetches: Int, storeLoops: Int, calls: Int = 0) {
        self.limit = limit
        // Enough for a cluster of a few nodes, each with an open connection and a previous one that is still closing.
        reserve = 64 + 8 * fetches + 8 * storeLoops + min(calls, Self.maximumCalls)
    }

    /// Lowers the service listener's connections to what the reserve and the admin listener leave.
    ///
    /// - Returns: whether it had to.
    package func fit(_ service: inout ListenerLimits, admin: ListenerLimits) -> Bool {
        let available = limit - reserve - admin.descriptors
        guard service.descriptors > available else { return false }
        service.maximumConnections = ListenerLimits.maximumConnections(within: available)
        return true
    }
}

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
