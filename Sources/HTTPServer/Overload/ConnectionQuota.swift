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
