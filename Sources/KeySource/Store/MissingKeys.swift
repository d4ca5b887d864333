private import Bytes
internal import Host

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
