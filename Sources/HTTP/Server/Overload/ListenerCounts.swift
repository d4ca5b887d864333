private import Synchronization

/// Counts of a listener over all event loops. A request that is answered as soon as it is read changes none of them.
final class ListenerCounts: Sendable {
    private let connections = Atomic(0)
    private let refusals = Atomic(0)
    private let reading = Atomic(0)
    private let waiting = Atomic(0)
    private let heldBytes = Atomic(0)
    private let unreadBytes = Atomic(0)
    private let unreadByAge = Mutex(UnreadByAge())
    private let refusedConnections = Atomic(0)
    private let refusedWaiting = Atomic(0)
    private let refusedBytes = Atomic(0)
    private let limits: ListenerLimits

    init(limits: ListenerLimits) { self.limits = limits }

    /// Counts a connection, unless there are too many.
    func admitConnection() -> Bool {
        admit(1, to: connections, limits.maximumConnections, orCountIn: refusedConnections)
    }
    func connectionClosed() { connections.subtract(1, ordering: .relaxed) }

    /// Counts a connection that gets a 503 because there are too many, unless there are too many of these as well.
    func admitRefusal() -> Bool { admit(1, to: refusals, limits.maximumRefusals) }
    func refusalClosed() { refusals.subtract(1, ordering: .relaxed) }

    /// Counts an incomplete request. There is no limit, because its bytes and the connections are limited.
    func readingBegan() { reading.add(1, ordering: .relaxed) }
    func readingEnded() { reading.subtract(1, ordering: .relaxed) }

    /// Counts a request that waits for its response, unless there are too many or they hold too many bytes.
    func admitWaiting(_ cost: WaitingCost) -> Bool {
        guard admit(cost.items, to: waiting, limits.maximumInFlight, orCountIn: refusedWaiting) else { return false }
        if admitBytes(cost.bytes) { return true }
        waiting.subtract(cost.items, ordering: .relaxed)
        return false
    }
    func waitingEnded(_ cost: WaitingCost) {
        waiting.subtract(cost.items, ordering: .relaxed)
        release(bytes: cost.bytes)
    }

    /// Counts bytes of requests that are incomplete, queued or waiting, unless it would be too many in total.
    func admitBytes(_ count: Int) -> Bool {
        admit(count, to: heldBytes, limits.maximumBuffered, orCountIn: refusedBytes)
    }
    func release(bytes: Int) { heldBytes.subtract(bytes, ordering: .relaxed) }

    /// Counts response bytes that clients have not read.
    func unreadChanged(by bytes: Int) { unreadBytes.add(bytes, ordering: .relaxed) }

    /// Whether unread responses exceed their limit, so that slow readers have to be closed.
    var holdsTooMuch: Bool { unreadBytes.load(ordering: .relaxed) > limits.maximumUnread }
    /// Whether unread responses exceed the limit so far that even readers that just became slow have to be closed.
    var isOverHardLimit: Bool { unreadBytes.load(ordering: .relaxed) > limits.maximumUnread / 4 * 5 }
    /// Whether slow readers should be closed to make room.
    ///
    /// - Parameter freed: bytes that other event loops are about to free.
    func isNearlyFull(without freed: Int = 0) -> Bool {
        unreadBytes.load(ordering: .relaxed) - freed > limits.maximumUnread / 8 * 7
    }

    /// Replaces an event loop's previous report of its unread bytes. Called at most once per tick.
    func reportUnread(_ current: UnreadByAge, insteadOf last: UnreadByAge) {
        unreadByAge.withLock { $0.replace(last, by: current) }
    }
    /// The unread bytes of all event loops at their last ticks.
    var reportedUnread: UnreadByAge { unreadByAge.withLock { $0 } }

    func slowReaderClosed() { refusedBytes.add(1, ordering: .relaxed) }

    var requestsInFlight: Int { reading.load(ordering: .relaxed) + waiting.load(ordering: .relaxed) }
    var openConnections: Int { connections.load(ordering: .relaxed) }

    var usage: ListenerUsage {
        ListenerUsage(
            limits: limits, openConnections: openConnections, requestsInFlight: requestsInFlight,
            bufferedBytes: heldBytes.load(ordering: .relaxed) + unreadBytes.load(ordering: .relaxed),
            refusedConnections: refusedConnections.load(ordering: .relaxed),
            refusedWaiting: refusedWaiting.load(ordering: .relaxed), refusedBytes: refusedBytes.load(ordering: .relaxed)
        )
    }

    private func admit(
        _ count: Int, to counter: borrowing Atomic<Int>, _ maximum: Int, orCountIn refused: borrowing Atomic<Int>
    ) -> Bool {
        if admit(count, to: counter, maximum) { return true }
        refused.add(1, ordering: .relaxed)
        return false
    }

    private func admit(_ count: Int, to counter: borrowing Atomic<Int>, _ maximum: Int) -> Bool {
        // Adding first and subtracting on failure would meanwhile reject other requests because of one that was never
        // admitted.
        var counted = counter.load(ordering: .relaxed)
        while counted + count <= maximum {
            let (isAdmitted, original) = counter.weakCompareExchange(
                expected: counted, desired: counted + count, ordering: .relaxed)
            if isAdmitted { return true }
            counted = original
        }
        return false
    }
}

/// The limits of one listener.
package struct ListenerLimits: Sendable, Equatable {
    /// Bytes of a request's head: request line and header fields. There can be at most 100 fields.
    package var maximumHeader = 16 * 1024
    package var maximumConnections = 10_000
    /// Connections beyond ``maximumConnections`` that get a 503 at the same time; more are closed without a response.
    var maximumRefusals: Int { max(Self.leastRefusals, maximumConnections / Self.refusalShare) }
    private static let leastRefusals = 64
    private static let refusalShare = 16
    /// Requests that wait for their responses, over all connections; each waiting item of a batch counts.
    package var maximumInFlight = 1024
    /// Bytes of all requests that are incomplete, queued or waiting.
    package var maximumBuffered = 32 * 1024 * 1024
    /// Bytes of all responses that clients have not read, including socket buffers. A separate limit, so that slow
    /// readers cause no requests to be rejected, and slow senders no responses to be cut off.
    var maximumUnread: Int { maximumBuffered / 2 }
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
