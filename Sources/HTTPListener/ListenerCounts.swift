private import Synchronization

/// What a listener counts over all event loops; none of it changes for a request that is answered as soon as it is read.
final class ListenerCounts: Sendable {
    private let connections = Atomic(0)
    private let inFlight = Atomic(0)
    private let bodyBytes = Atomic(0)
    private let limits: ListenerLimits

    init(limits: ListenerLimits) { self.limits = limits }

    /// Counts a connection, unless there are too many.
    func admitConnection() -> Bool { admit(1, to: connections, limits.maximumConnections) }
    func connectionClosed() { connections.subtract(1, ordering: .relaxed) }

    /// Counts a request that could not be answered at once, unless there are too many.
    func admitRequest() -> Bool { admit(1, to: inFlight, limits.maximumInFlight) }

    /// Counts bytes of a body that is not yet whole, unless all such bodies together hold too many.
    func admitBytes(_ count: Int) -> Bool { admit(count, to: bodyBytes, limits.maximumBuffered) }

    func requestEnded(holding bytes: Int) {
        inFlight.subtract(1, ordering: .relaxed)
        bodyBytes.subtract(bytes, ordering: .relaxed)
    }

    var requestsInFlight: Int { inFlight.load(ordering: .relaxed) }
    var bufferedBytes: Int { bodyBytes.load(ordering: .relaxed) }
    var openConnections: Int { connections.load(ordering: .relaxed) }

    private func admit(_ count: Int, to counter: borrowing Atomic<Int>, _ maximum: Int) -> Bool {
        let isAdmitted = counter.add(count, ordering: .relaxed).newValue <= maximum
        if !isAdmitted { counter.subtract(count, ordering: .relaxed) }
        return isAdmitted
    }
}
