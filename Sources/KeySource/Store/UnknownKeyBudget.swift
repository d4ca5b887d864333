private import Bytes
internal import Host

/// How often a `kid` that no key has may cause a fetch: whoever makes tokens up must not make us hammer the provider.
struct UnknownKeyBudget {
    private let rules: KeyRules
    /// When the fetches were made that an unknown `kid` caused.
    private var spent: [MonotonicTime] = []
    /// The `kid`s that a fetch has just not found.
    private var missing: [ExactString: MonotonicTime] = [:]
    /// When the first of them was not found.
    private var oldestMissing: MonotonicTime?

    init(_ rules: KeyRules) { self.rules = rules }

    /// Spends one fetch.
    ///
    /// - Returns: whether there was one left.
    mutating func spend(now: MonotonicTime) -> Bool {
        spent.removeAll { now - $0 >= rules.unknownKeyWindow }
        guard spent.count < rules.unknownKeyFetches else { return false }
        spent.append(now)
        return true
    }

    /// Whether a fetch has looked for this `kid` a short while ago.
    mutating func isMissing(_ keyID: String, now: MonotonicTime) -> Bool {
        forgetOldEntries(now: now)
        return missing[ExactString(keyID)] != nil
    }

    /// Takes note that a fetch has not found this `kid`.
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
