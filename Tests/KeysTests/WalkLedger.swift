import HTTP
import JOSE
import Keys

/// The keys that should be in use according to the answers so far, computed in the simplest possible way for comparison
/// with the machine.
struct WalkLedger {
    enum Invariant: String {
        case lastAnswerServes = "every key of the last answer serves"
        case omittedOnceServes = "a key that one answer alone has left out serves on for its hour"
        case omittedTwiceGone = "a key that two whole answers in a row have left out is gone"
        case graceEnds = "a key that has been left out for an hour is gone when the timer fires"
        case neverInvented = "no key serves that no answer ever held"
        case omittedMarked = "the keys that the last answer left out are marked, and no others"
    }

    private var answer: WalkAnswer?
    /// Keys that the last full answer was the first to omit, and how long they stay in use.
    private(set) var omitted: [String: MonotonicTime] = [:]
    private var everHeld: Set<String> = []
    private var lapsed: Set<String> = []

    /// Replaces all keys, except those that had been omitted before.
    mutating func begin(anew answer: WalkAnswer, omitting names: [String] = [], until end: MonotonicTime? = nil) {
        take(answer)
        omitted = [:]
        if let end { for name in names { omitted[name] = end } }
        everHeld.formUnion(names)
    }

    /// Records a full answer that casts no doubt on the keys that it omits.
    ///
    /// - Returns: how many keys are no longer in use.
    mutating func compare(_ new: WalkAnswer, until: MonotonicTime) -> Int {
        let before = (answer?.names ?? []).union(omitted.keys)
        let missing = (answer?.usableNames ?? []).subtracting(new.names)
        // A new usable key replaces those with the same `kid`.
        let replaced = Set(new.usableNames.subtracting(before).map(Self.keyID)).subtracting(["-"])
        take(new)
        omitted = Dictionary(
            uniqueKeysWithValues: missing.filter { !replaced.contains(Self.keyID($0)) }.map { ($0, until) })
        return before.subtracting(new.names).subtracting(omitted.keys).count
    }

    private static func keyID(_ name: String) -> Substring { name.prefix { $0 != " " } }

    /// The last answer is confirmed.
    mutating func confirm(_ answer: WalkAnswer) { take(answer) }

    private mutating func take(_ answer: WalkAnswer) {
        self.answer = answer
        everHeld.formUnion(answer.names)
    }

    /// - Returns: how many omitted keys have reached their end.
    mutating func timerFired(_ now: MonotonicTime) -> Int {
        let ended = omitted.filter { $0.value <= now }.keys
        lapsed = Set(ended)
        for name in ended { omitted[name] = nil }
        return lapsed.count
    }

    /// The invariant that a snapshot violates, if any.
    func violation(of snapshot: KeySnapshot?) -> Invariant? {
        guard let snapshot, let answer else { return snapshot == nil && answer == nil ? nil : .lastAnswerServes }
        let names = snapshot.keys.keys.map(WalkAnswer.name)
        let serving = Set(names)
        if !serving.isSuperset(of: answer.names) { return .lastAnswerServes }
        if !serving.isSuperset(of: omitted.keys) { return .omittedOnceServes }
        if !serving.isSubset(of: everHeld) { return .neverInvented }
        let wrong = serving.subtracting(answer.names).subtracting(omitted.keys)
        if !wrong.isEmpty { return wrong.isDisjoint(with: lapsed) ? .omittedTwiceGone : .graceEnds }
        return Set(names.suffix(snapshot.omittedKeyCount)) == Set(omitted.keys) ? nil : .omittedMarked
    }
}
