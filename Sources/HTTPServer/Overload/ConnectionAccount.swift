/// What one connection has had counted, so that all of it is given back.
struct ConnectionAccount {
    private let counts: ListenerCounts
    private var admission = Admission.none
    /// Whether a request is counted that is not yet whole.
    private var isReading = false
    /// Of requests.
    private var heldBytes = 0
    /// Of answers.
    private(set) var unreadBytes = 0

    enum Admission {
        case none
        case admitted
        /// Over the limit, and told so.
        case refused
    }

    init(_ counts: ListenerCounts) { self.counts = counts }

    /// Counts the connection, as far as there is room for it.
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

    /// Counts the request as one that is not yet whole.
    mutating func beginReading() {
        guard !isReading else { return }
        isReading = true
        counts.readingBegan()
    }

    /// Counts a request whose answer waits, unless there are too many or they hold too much.
    ///
    /// - Returns: what to give back to ``ListenerCounts/waitingEnded(_:)`` when the answer is there, and not when nobody is
    ///   there any more to read it: what it holds, it holds until then. `nil`: there is no room.
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

    /// Counts the bytes that the connection now holds, unless all connections together hold too many.
    mutating func hold(_ bytes: Int) -> Bool {
        if bytes > heldBytes, !counts.admitBytes(bytes - heldBytes) { return false }
        if bytes < heldBytes { counts.release(bytes: heldBytes - bytes) }
        heldBytes = bytes
        return true
    }

    /// Counts the bytes of answers that the client has not taken. They are there, so nothing can be refused: where there
    /// are too many, slow readers have to be closed.
    mutating func holdUnread(_ bytes: Int) {
        guard bytes != unreadBytes else { return }
        counts.unreadChanged(by: bytes - unreadBytes)
        unreadBytes = bytes
    }
}
