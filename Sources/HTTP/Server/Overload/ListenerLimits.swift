private import Glibc
internal import NIOCore
private import Synchronization

/// Counts of a listener over all event loops. A request that is answered as soon as it is read changes none of them.
final class ListenerCounts: Sendable {
    fileprivate let connections = LimitedCount()
    /// Connections that get a 503 because there are too many.
    fileprivate let refusals = LimitedCount()
    /// Incomplete requests. There is no limit, because their bytes and the connections are limited.
    fileprivate let reading = LimitedCount()
    /// Requests that wait for their responses.
    private let waiting = LimitedCount()
    /// Bytes of requests that are incomplete, queued or waiting.
    fileprivate let heldBytes = LimitedCount()
    /// Response bytes that clients have not read. They already exist, so none are refused.
    fileprivate let unreadBytes = LimitedCount()
    private let unreadByAge = Mutex(UnreadByAge())
    fileprivate let limits: ListenerLimits

    init(limits: ListenerLimits) { self.limits = limits }

    /// Counts a request that waits for its response, unless there are too many or they hold too many bytes.
    fileprivate func admitWaiting(_ cost: WaitingCost) -> Bool {
        guard waiting.admit(cost.items, atMost: limits.maximumInFlight) else { return false }
        if heldBytes.admit(cost.bytes, atMost: limits.maximumBuffered) { return true }
        waiting.add(-cost.items)
        return false
    }
    func waitingEnded(_ cost: WaitingCost) {
        waiting.add(-cost.items)
        heldBytes.add(-cost.bytes)
    }

    /// Whether unread responses exceed their limit, so that slow readers have to be closed.
    var holdsTooMuch: Bool { unreadBytes.value > limits.maximumUnread }
    /// Whether unread responses exceed the limit so far that even readers that just became slow have to be closed.
    var isOverHardLimit: Bool { unreadBytes.value > limits.maximumUnread / 4 * 5 }
    /// Whether slow readers should be closed to make room.
    ///
    /// - Parameter freed: bytes that other event loops are about to free.
    func isNearlyFull(without freed: Int = 0) -> Bool { unreadBytes.value - freed > limits.maximumUnread / 8 * 7 }

    /// Replaces an event loop's previous report of its unread bytes. Called at most once per tick.
    func reportUnread(_ current: UnreadByAge, insteadOf last: UnreadByAge) {
        unreadByAge.withLock { $0.replace(last, by: current) }
    }
    /// The unread bytes of all event loops at their last ticks.
    var reportedUnread: UnreadByAge { unreadByAge.withLock { $0 } }

    func slowReaderClosed() { heldBytes.countRefusal() }

    var requestsInFlight: Int { reading.value + waiting.value }
    var openConnections: Int { connections.value }

    var usage: ListenerUsage {
        ListenerUsage(
            limits: limits, openConnections: openConnections, requestsInFlight: requestsInFlight,
            bufferedBytes: heldBytes.value + unreadBytes.value, refusedConnections: connections.refused,
            refusedWaiting: waiting.refused, refusedBytes: heldBytes.refused)
    }
}

/// A number that threads count together, and how often more would have been too much.
private struct LimitedCount: ~Copyable {
    private let count = Atomic(0)
    private let refusals = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }
    var refused: Int { refusals.load(ordering: .relaxed) }

    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
    func countRefusal() { refusals.add(1, ordering: .relaxed) }

    /// Adds a number, unless the count would exceed the maximum.
    func admit(_ number: Int, atMost maximum: Int) -> Bool {
        // Adding first and subtracting on failure would meanwhile reject other requests because of one that was never
        // admitted.
        var counted = value
        while counted + number <= maximum {
            let (isAdmitted, original) = count.weakCompareExchange(
                expected: counted, desired: counted + number, ordering: .relaxed)
            if isAdmitted { return true }
            counted = original
        }
        countRefusal()
        return false
    }
}

/// The limits of one listener.
package struct ListenerLimits: Sendable, Equatable {
    /// Bytes of a request's head: request line and header fields. There can be at most 100 fields.
    package var maximumHeader = 16 * 1024
    package var maximumConnections = 10_000
    /// Connections beyond ``maximumConnections`` that get a 503 at the same time; more are closed without a response.
    fileprivate var maximumRefusals: Int { max(Self.leastRefusals, maximumConnections / Self.refusalShare) }
    private static let leastRefusals = 64
    private static let refusalShare = 16
    /// Requests that wait for their responses, over all connections; each waiting item of a batch counts.
    package var maximumInFlight = 1024
    /// Bytes of all requests that are incomplete, queued or waiting.
    package var maximumBuffered = 32 * 1024 * 1024
    /// Bytes of all responses that clients have not read, including socket buffers. A separate limit, so that slow
    /// readers cause no requests to be rejected, and slow senders no responses to be cut off.
    fileprivate var maximumUnread: Int { maximumBuffered / 2 }
    /// Bytes of a connection's send buffer and of its receive buffer. The kernel uses up to twice as many.
    package var socketBuffer = 64 * 1024
    /// From a request's first byte to its last.
    package var requestTimeoutSeconds: Int64 = 10
    /// How long a connection may be idle between requests.
    package var idleTimeoutSeconds: Int64 = 75

    package init() {}

    /// The most file descriptors of the listener: its own, its connections', and those of connections that it rejects.
    package var descriptors: Int { 1 + maximumConnections + maximumRefusals }

    /// The largest ``maximumConnections`` with which the listener needs no more than this number of descriptors; at
    /// least 1.
    package static func maximumConnections(within descriptors: Int) -> Int {
        let available = descriptors - 1
        return max(1, min(available - leastRefusals, available * refusalShare / (refusalShare + 1)))
    }
}

/// The usage of a listener's limits, and the numbers of rejections.
package struct ListenerUsage: Sendable {
    package let limits: ListenerLimits
    package let openConnections: Int
    /// Requests that have started and have not been answered; requests that are answered as soon as they are read never
    /// count.
    package let requestsInFlight: Int
    /// Bytes held for requests that are incomplete, queued or waiting, and for responses that clients have not read.
    package let bufferedBytes: Int
    /// Connections rejected because of ``ListenerLimits/maximumConnections``.
    package let refusedConnections: Int
    /// Requests rejected because of ``ListenerLimits/maximumInFlight``.
    package let refusedWaiting: Int
    /// Requests rejected because of ``ListenerLimits/maximumBuffered``, and slow readers that were closed.
    package let refusedBytes: Int
}

/// Bytes of unread responses, by the number of ticks for which their clients have read almost nothing.
struct UnreadByAge: Equatable {
    /// The highest age, in ticks: ten seconds. Older bytes count as this old. A client that is starved of CPU for a few
    /// seconds must not count as slow as one that never reads.
    static let oldest = 40

    private var bytes = [Int](repeating: 0, count: oldest + 1)

    mutating func add(_ count: Int, age: Int) { bytes[min(age, Self.oldest)] += count }

    func total(olderThan age: Int) -> Int { bytes.dropFirst(age + 1).reduce(0, +) }

    /// Subtracts an old value from a sum, and adds a new one.
    mutating func replace(_ part: UnreadByAge, by other: UnreadByAge) {
        for age in bytes.indices { bytes[age] += other.bytes[age] - part.bytes[age] }
    }
}

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
        let limits = counts.limits
        admission =
            counts.connections.admit(1, atMost: limits.maximumConnections)
            ? .admitted : counts.refusals.admit(1, atMost: limits.maximumRefusals) ? .refused : .none
        return admission
    }

    mutating func close() {
        endRequest()
        _ = hold(0)
        holdUnread(0)
        switch admission {
        case .none: break
        case .admitted: counts.connections.add(-1)
        case .refused: counts.refusals.add(-1)
        }
        admission = .none
    }

    /// Counts an incomplete request.
    mutating func beginReading() {
        guard !isReading else { return }
        isReading = true
        counts.reading.add(1)
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
        counts.reading.add(-1)
    }

    /// Counts the bytes that the connection now holds, unless the total over all connections would exceed the limit.
    mutating func hold(_ bytes: Int) -> Bool {
        if bytes > heldBytes,
            !counts.heldBytes.admit(bytes - heldBytes, atMost: counts.limits.maximumBuffered)
        {
            return false
        }
        if bytes < heldBytes { counts.heldBytes.add(bytes - heldBytes) }
        heldBytes = bytes
        return true
    }

    /// Counts the response bytes that the client has not read. They already exist, so this can't fail: if there are too
    /// many, slow readers are closed.
    mutating func holdUnread(_ bytes: Int) {
        guard bytes != unreadBytes else { return }
        counts.unreadBytes.add(bytes - unreadBytes)
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
