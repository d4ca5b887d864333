package import NIOCore

/// Decides which fetches may begin, so that only a limited number run at once, however many providers there are.
///
/// Fair: the sources of each kind of fetch take turns, and an open source, whose issuers the callers name, never gets
/// more than half of the slots. Pure: the owner begins what ``admit()`` returns.
package struct FetchQueue {
    /// Why a fetch is needed, the most urgent first.
    package enum Kind: Int, CaseIterable, Sendable {
        /// Keys are in use, and newer ones are needed.
        case refresh
        /// There are no keys yet.
        case first
        /// The last fetch failed. At most half of the slots, so that providers that don't answer leave room for the
        /// others.
        case retry
    }

    /// Whose fetches take turns with those of others.
    package enum Source: Hashable, Sendable {
        /// The providers with one issuer each.
        case singleIssuers
        /// An entry whose list of issuers the settings have.
        case list(id: String)
        /// An entry whose issuers the callers name.
        case open(id: String)

        var isOpen: Bool { if case .open = self { true } else { false } }
    }

    package typealias Ticket = Int

    /// The maximum number of fetches under way. More may be for a while after it was lowered.
    package var limit: Int
    private var nextTicket = 0
    private var lines = [Line](repeating: Line(), count: Kind.allCases.count)
    /// The tickets in `lines` that have not left, and whose they are.
    private var waiting: [Ticket: Source] = [:]
    private var waitingBySource: [Source: Int] = [:]
    private var underWay: [Ticket: Fetch] = [:]
    private var retries = 0
    private var openFetches = 0
    private var openRetries = 0

    private struct Fetch {
        let kind: Kind
        let isOpen: Bool
    }

    /// The fetches of one kind that wait, by their sources, which take turns.
    private struct Line {
        private var turns: CircularBuffer<Source> = []
        private var tickets: [Source: CircularBuffer<Ticket>] = [:]

        mutating func append(_ ticket: Ticket, of source: Source) {
            if tickets[source] == nil { turns.append(source) }
            tickets[source, default: []].append(ticket)
        }

        /// The next ticket of the first source in turn that may have one. The source's next turn is after the others'.
        mutating func next(where mayBegin: (Source) -> Bool) -> (ticket: Ticket, source: Source)? {
            guard let index = turns.firstIndex(where: mayBegin) else { return nil }
            let source = turns.remove(at: index)
            guard let ticket = tickets[source]?.popFirst() else { return nil }
            if tickets[source]?.isEmpty == true {
                tickets[source] = nil
            } else {
                turns.append(source)
            }
            return (ticket, source)
        }
    }

    /// - Parameter limit: at least 1.
    package init(limit: Int) { self.limit = limit }

    /// Adds a fetch behind the others of its kind and source.
    package mutating func enter(_ kind: Kind, of source: Source = .singleIssuers) -> Ticket {
        defer { nextTicket += 1 }
        lines[kind.rawValue].append(nextTicket, of: source)
        waiting[nextTicket] = source
        waitingBySource[source, default: 0] += 1
        return nextTicket
    }

    /// Whether a source has so many fetches waiting that it should begin no other for now.
    ///
    /// - Parameter coming: the number of first fetches of this source that are about to enter.
    package func isFull(_ source: Source, besides coming: Int = 0) -> Bool {
        let free = source.isOpen ? min(limit - underWay.count, half(of: limit) - openFetches) : limit - underWay.count
        return waitingBySource[source, default: 0] + max(coming - max(free, 0), 0) >= 8 * limit
    }

    /// A fetch has ended, or is not needed any more. Does nothing if it has left before.
    package mutating func leave(_ ticket: Ticket) {
        stopWaiting(ticket)
        guard let fetch = underWay.removeValue(forKey: ticket) else { return }
        count(fetch, -1)
    }

    /// The fetches that begin now.
    package mutating func admit() -> [Ticket] {
        var admitted: [Ticket] = []
        for kind in Kind.allCases {
            while underWay.count < limit, kind != .retry || retries < half(of: limit) {
                // Copies, because the line is being changed.
                let hasRoomForOpen =
                    openFetches < half(of: limit) && (kind != .retry || openRetries < half(of: limit / 2))
                guard let (ticket, _) = lines[kind.rawValue].next(where: { hasRoomForOpen || !$0.isOpen }) else {
                    break
                }
                guard let source = stopWaiting(ticket) else { continue }
                let fetch = Fetch(kind: kind, isOpen: source.isOpen)
                underWay[ticket] = fetch
                count(fetch, 1)
                admitted.append(ticket)
            }
        }
        return admitted
    }

    private func half(of number: Int) -> Int { max(number / 2, 1) }

    /// - Returns: whose fetch waited; `nil` if it did not wait.
    @discardableResult
    private mutating func stopWaiting(_ ticket: Ticket) -> Source? {
        guard let source = waiting.removeValue(forKey: ticket) else { return nil }
        let others = waitingBySource[source, default: 1] - 1
        waitingBySource[source] = others == 0 ? nil : others
        return source
    }

    private mutating func count(_ fetch: Fetch, _ change: Int) {
        if fetch.kind == .retry { retries += change }
        if fetch.isOpen { openFetches += change }
        if fetch.isOpen, fetch.kind == .retry { openRetries += change }
    }
}

/// The slots for fetches, which all key stores of an event loop share. All methods are called on that loop.
package final class FetchSlots: Sendable {
    private let state: NIOLoopBoundBox<State>

    private struct State {
        var queue: FetchQueue
        var begins: [FetchQueue.Ticket: (FetchQueue.Ticket) -> Void] = [:]
    }

    package init(limit: Int, on loop: any EventLoop) {
        state = NIOLoopBoundBox.makeBoxSendingValue(State(queue: FetchQueue(limit: limit)), eventLoop: loop)
    }

    /// Calls `begin` when the fetch has a slot, perhaps before this returns.
    ///
    /// - Returns: the ticket, also passed to `begin`, with which the fetch must ``leave(_:)``.
    package func enter(
        _ kind: FetchQueue.Kind, of source: FetchQueue.Source = .singleIssuers,
        begin: @escaping (FetchQueue.Ticket) -> Void
    ) -> FetchQueue.Ticket {
        let ticket = state.value.queue.enter(kind, of: source)
        state.value.begins[ticket] = begin
        admit()
        return ticket
    }

    /// Whether a source has so many fetches waiting that it should begin no other for now.
    ///
    /// - Parameter coming: the number of first fetches of this source that are about to enter.
    func isFull(_ source: FetchQueue.Source, besides coming: Int) -> Bool {
        state.value.queue.isFull(source, besides: coming)
    }

    /// A fetch has ended, or is not needed any more. May be called more than once.
    package func leave(_ ticket: FetchQueue.Ticket) {
        state.value.queue.leave(ticket)
        state.value.begins[ticket] = nil
        admit()
    }

    /// Changes the maximum number of fetches under way.
    package func change(limit: Int) {
        state.value.queue.limit = limit
        admit()
    }

    private func admit() {
        for ticket in state.value.queue.admit() { state.value.begins.removeValue(forKey: ticket)?(ticket) }
    }
}
