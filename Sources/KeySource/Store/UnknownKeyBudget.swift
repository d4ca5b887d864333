private import Bytes
internal import Host

/// Limits how often unknown `kid`s may cause a fetch: forged tokens must not make Assay flood the provider.
struct UnknownKeyBudget {
    private let rules: KeyRules
    /// The times of fetches that an unknown `kid`, a bad signature or a need for newer keys caused.
    private var spent: [MonotonicTime] = []
    /// The `kid`s that a recent fetch did not find.
    private var missing: [ExactString: MonotonicTime] = [:]
    /// The time of the oldest entry in `missing`.
    private var oldestMissing: MonotonicTime?

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

    /// Whether a recent fetch did not find this `kid`.
    mutating func isMissing(_ keyID: String, now: MonotonicTime) -> Bool {
        forgetOldEntries(now: now)
        return missing[ExactString(keyID)] != nil
    }

    /// Records that a fetch did not find this `kid`.
    mutating func remember(missing keyID: String, now: MonotonicTime) {
        forgetOldEntries(now: now)
        guard missing.count < rules.rememberedMissingKeys else { return }
        missing[ExactString(keyID)] = now
        oldestMissing = oldestMissing ?? now
    }

    private mutating func forgetOldEntries(now: MonotonicTime) {
        guard let oldestMissing, now - oldestMissing >= rules.missingKeyMemory else { return }
        missing = missing.filter { now - $0.value < rules.missingKeyMemory }
        self.oldestMissing = missing.values.min()
    }
}
