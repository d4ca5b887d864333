internal import Host

/// Requests that wait for a fetch.
struct Waiters {
    private(set) var all: [Waiter] = []
    /// The earliest deadline; cached, because a flood may leave a hundred thousand waiters.
    private(set) var firstDeadline: MonotonicTime?

    struct Waiter {
        let id: KeyStore.StateMachine.WaiterID
        let need: KeyStore.StateMachine.FetchReason
        let deadline: MonotonicTime
        /// Whether the fetch in progress started before this waiter joined. It may then miss what the waiter needs.
        var missedFetchStart: Bool

        var needsAnyKeys: Bool { if case .anyKeys = need { true } else { false } }

        /// Whether only a fetch that starts from now on is enough, because an operator has just changed something.
        var needsAnotherFetch: Bool { missedFetchStart && need.isRefresh }
    }

    var isEmpty: Bool { all.isEmpty }

    func contains(where isSought: (Waiter) -> Bool) -> Bool { all.contains(where: isSought) }

    mutating func append(_ waiter: Waiter) {
        all.append(waiter)
        firstDeadline = min(firstDeadline ?? waiter.deadline, waiter.deadline)
    }

    /// Removes and returns the waiters that match the predicate.
    mutating func remove(where isChosen: (Waiter) -> Bool) -> [Waiter] {
        let chosen = all.filter(isChosen)
        guard !chosen.isEmpty else { return [] }
        all.removeAll(where: isChosen)
        firstDeadline = all.lazy.map(\.deadline).min()
        return chosen
    }

    /// A fetch starts. It also serves the waiters that joined the previous one late.
    mutating func fetchBegan() {
        for index in all.indices { all[index].missedFetchStart = false }
    }
}
