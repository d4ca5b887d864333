internal import Host

/// Limits how often tokens may cause a fetch: forged ones must not make Assay flood the provider.
struct FetchBudget {
    private let rules: KeyRules
    /// The times of the fetches in the current window.
    private var spent: [MonotonicTime] = []

    init(_ rules: KeyRules) { self.rules = rules }

    /// Takes one fetch from the budget.
    ///
    /// - Returns: whether one was left.
    mutating func spend(now: MonotonicTime) -> Bool {
        spent.removeAll { now - $0 >= rules.unknownKeyWindow }
        guard spent.count < rules.unknownKeyFetches else { return false }
        spent.append(now)
        return true
    }

    /// The time until the budget allows another fetch.
    func untilNext(now: MonotonicTime) -> Interval {
        guard spent.count >= rules.unknownKeyFetches, let oldest = spent.first else { return .seconds(0) }
        return oldest + rules.unknownKeyWindow - now
    }
}
