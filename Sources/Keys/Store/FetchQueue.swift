package import NIOCore

/// Decides which fetches may begin, so that only a limited number run at once, however many providers there are.
///
/// Pure: the owner begins what ``admit()`` returns.
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

    package typealias Ticket = Int

    /// The maximum number of fetches under way. More may be for a while after it was lowered.
    package var limit: Int
    private var nextTicket = 0
    private var lines = [CircularBuffer<Ticket>](repeating: [], count: Kind.allCases.count)
    /// The tickets in `lines` that have not left.
    private var waiting: Set<Ticket> = []
    private var underWay: [Ticket: Kind] = [:]
    private var retries = 0

    /// - Parameter limit: at least 1.
    package init(limit: Int) { self.limit = limit }

    /// Adds a fetch behind the others of its kind.
    package mutating func enter(_ kind: Kind) -> Ticket {
        defer { nextTicket += 1 }
        lines[kind.rawValue].append(nextTicket)
        waiting.insert(nextTicket)
        return nextTicket
    }

    /// A fetch has ended, or is not needed any more. Does nothing if it has left before.
    package mutating func leave(_ ticket: Ticket) {
        waiting.remove(ticket)
        if underWay.removeValue(forKey: ticket) == .retry { retries -= 1 }
    }

    /// The fetches that begin now.
    package mutating func admit() -> [Ticket] {
        var admitted: [Ticket] = []
        for kind in Kind.allCases {
            while underWay.count < limit, kind != .retry || retries < max(limit / 2, 1),
                let ticket = lines[kind.rawValue].popFirst()
            {
                guard waiting.remove(ticket) != nil else { continue }
                underWay[ticket] = kind
                if kind == .retry { retries += 1 }
                admitted.append(ticket)
            }
        }
        return admitted
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
        _ kind: FetchQueue.Kind, begin: @escaping (FetchQueue.Ticket) -> Void
    ) -> FetchQueue.Ticket {
        let ticket = state.value.queue.enter(kind)
        state.value.begins[ticket] = begin
        admit()
        return ticket
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
