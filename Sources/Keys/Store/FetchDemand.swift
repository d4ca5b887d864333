private import Bytes
internal import HTTP

/// Requests that wait for a fetch, or for the fallback to be read.
struct Waiters {
    private(set) var all: [Waiter] = []
    /// How many of them are operators' requests for a refresh. Counted, so that a flood of waiters need not be scanned.
    private var refreshes = 0
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

    /// Whether an operator's request is among them. While it waits for its fetch, no planned one begins.
    var needRefresh: Bool { refreshes > 0 }

    mutating func append(_ waiter: Waiter) {
        all.append(waiter)
        if waiter.need.isRefresh { refreshes += 1 }
        firstDeadline = min(firstDeadline ?? waiter.deadline, waiter.deadline)
    }

    /// Removes and returns the waiters that match the predicate.
    mutating func remove(where isChosen: (Waiter) -> Bool) -> [Waiter] {
        let chosen = all.filter(isChosen)
        guard !chosen.isEmpty else { return [] }
        all.removeAll(where: isChosen)
        refreshes -= chosen.count { $0.need.isRefresh }
        firstDeadline = all.lazy.map(\.deadline).min()
        return chosen
    }

    /// A fetch starts. It also serves the waiters that joined the previous one late.
    mutating func fetchBegan() {
        for index in all.indices { all[index].missedFetchStart = false }
    }
}

/// The keys that a store asks for one by one, for a provider that publishes no list of them.
///
/// Tokens name these keys. The provider publishes keys of several owners at one address, so a token can name a key of
/// another owner. A key therefore counts as proven only once it has verified a token. From then on, only proven keys
/// can evict it.
struct SoughtKeys {
    /// In the order in which they were proven.
    private(set) var proven: [String] = []
    /// Keys that the provider has, in the order in which they were found.
    private var unproven: [String] = []
    /// Keys that the fetch in progress is the first to ask for.
    private var requested: [String] = []
    /// Keys that no fetch has asked for yet, in the order in which tokens named them. Further ones are ignored while
    /// the list is full: each token can name another key, and a later one must not evict an earlier one.
    private var waiting: [String] = []

    static let maximumProven = 8
    static let maximumUnproven = 4

    /// The keys that a fetch asks for.
    var requests: [String] { proven + unprovenRequests }

    /// The keys among them that have not verified a token.
    var unprovenRequests: [String] { unproven + requested }

    /// A token names a key that is not known. The next fetch asks for it.
    mutating func seek(_ keyID: String) {
        guard waiting.count < Self.maximumUnproven, !requests.contains(keyID), !waiting.contains(keyID) else { return }
        waiting.append(keyID)
    }

    /// A fetch begins. It asks for all waiting keys too.
    mutating func beginFetch() { (requested, waiting) = (waiting, []) }

    /// A key has verified a token.
    ///
    /// - Returns: whether this is the first token that it has verified.
    mutating func prove(_ keyID: String) -> Bool {
        guard let index = unproven.firstIndex(of: keyID) else { return false }
        unproven.remove(at: index)
        adopt([keyID])
        return true
    }

    /// Keys that an earlier process had proven.
    mutating func adopt(_ keyIDs: [String]) {
        proven = (proven + keyIDs.filter { !proven.contains($0) }).suffix(Self.maximumProven)
    }

    /// A fetch failed. Forgets the unproven keys that are not in the key set: any token can name such a key, and its URL
    /// may be the one that failed.
    mutating func fetchFailed(unless isKnown: (String) -> Bool) {
        unproven.removeAll { !isKnown($0) }
        requested = []
    }

    /// A fetch succeeded. Forgets the keys that it asked for and that are not in the new key set.
    mutating func fetchSucceeded(where isFound: (String) -> Bool) {
        proven.removeAll { !isFound($0) }
        unproven = (unproven + requested).filter(isFound).suffix(Self.maximumUnproven)
        requested = []
    }
}

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
        spent.removeAll { now - $0 >= rules.tokenFetchWindow }
        guard spent.count < rules.tokenFetches else { return false }
        spent.append(now)
        return true
    }

    /// The time until the budget allows another fetch.
    func untilNext(now: MonotonicTime) -> Interval {
        guard spent.count >= rules.tokenFetches, let oldest = spent.first else { return .seconds(0) }
        return oldest + rules.tokenFetchWindow - now
    }
}

/// Remembers which `kid`s a recent fetch did not find, so that they cause no other fetch.
struct MissingKeys {
    private let rules: KeyRules
    private var missing: [ExactString: MonotonicTime] = [:]
    /// The time of the oldest entry in `missing`.
    private var oldest: MonotonicTime?

    init(_ rules: KeyRules) { self.rules = rules }

    /// Whether a recent fetch did not find this `kid`.
    mutating func contains(_ keyID: String, now: MonotonicTime) -> Bool {
        forgetOldEntries(now: now)
        return missing[ExactString(keyID)] != nil
    }

    /// Records that a fetch did not find this `kid`.
    mutating func insert(_ keyID: String, now: MonotonicTime) {
        forgetOldEntries(now: now)
        guard missing.count < rules.rememberedMissingKeys else { return }
        missing[ExactString(keyID)] = now
        oldest = oldest ?? now
    }

    private mutating func forgetOldEntries(now: MonotonicTime) {
        guard let oldest, now - oldest >= rules.missingKeyMemory else { return }
        missing = missing.filter { now - $0.value < rules.missingKeyMemory }
        self.oldest = missing.values.min()
    }
}
