/// What one connection has had counted, so that all of it is given back.
struct ConnectionAccount {
    private let counts: ListenerCounts
    private var place = Place.none
    private var request = Request.none
    private var heldBytes = 0

    enum Place {
        case none
        case admitted
        /// Over the limit, and told so.
        case refused
    }

    private enum Request { case none, reading }

    init(_ counts: ListenerCounts) { self.counts = counts }

    /// Counts the connection, as far as there is room for it.
    mutating func open() -> Place {
        place = counts.admitConnection() ? .admitted : counts.admitRefusal() ? .refused : .none
        return place
    }

    mutating func close() {
        endRequest()
        _ = hold(0)
        switch place {
        case .none: break
        case .admitted: counts.connectionClosed()
        case .refused: counts.refusalClosed()
        }
        place = .none
    }

    /// Counts the request as one that is not yet whole.
    mutating func beginReading() {
        guard request == .none else { return }
        request = .reading
        counts.readingBegan()
    }

    /// Counts the request as one that waits for its answer, unless there are too many. Its place is free again when the answer
    /// is there, and not when nobody is there any more to read it: what it holds, it holds until then.
    mutating func beginWaiting() -> Bool {
        guard counts.admitWaiting() else { return false }
        endRequest()
        return true
    }

    mutating func endRequest() {
        switch request {
        case .none: break
        case .reading: counts.readingEnded()
        }
        request = .none
    }

    /// Counts the bytes that the connection now holds, unless all connections together hold too many.
    mutating func hold(_ bytes: Int) -> Bool {
        if bytes > heldBytes, !counts.admitBytes(bytes - heldBytes) { return false }
        if bytes < heldBytes { counts.release(bytes: heldBytes - bytes) }
        heldBytes = bytes
        return true
    }
}
