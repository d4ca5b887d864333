internal import Host

/// Requests that wait for a fetch.
struct Waiters {
    private(set) var all: [Waiter] = []
    /// When the first of them gives up; kept, since a flood may leave a hundred thousand waiting.
    private(set) var firstDeadline: MonotonicTime?

    struct Waiter {
        let id: KeyStore.StateMachine.WaiterID
        let need: KeyStore.StateMachine.Need
        let deadline: MonotonicTime
        /// Whether the fetch under way had begun before this waiter came, and so may miss what it needs.
        var joinedLate: Bool

        var needsAnyKeys: Bool { if case .anyKeys = need { true } else { false } }

        /// Whether only a fetch that begins from now on will do: an operator has just changed something.
        var needsAnotherFetch: Bool { joinedLate && need.isRefresh }
    }

    var isEmpty: Bool { all.isEmpty }

    func contains(where isSought: (Waiter) -> Bool) -> Bool { all.contains(where: isSought) }

    mutating func append(_ waiter: Waiter) {
        all.append(waiter)
        firstDeadline = min(firstDeadline ?? waiter.deadline, waiter.deadline)
    }

    /// Takes those out of whom something is true.
    mutating func remove(where isChosen: (Waiter) -> Bool) -> [Waiter] {
        let chosen = all.filter(isChosen)
        guard !chosen.isEmpty else { return [] }
        all.removeAll(where: isChosen)
        firstDeadline = all.lazy.map(\.deadline).min()
        return chosen
    }

    /// A fetch begins: it is the one that those who came late have waited for.
    mutating func fetchBegan() {
        for index in all.indices { all[index].joinedLate = false }
    }
}
