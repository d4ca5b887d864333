import Host
import JOSE
import KeySource

/// Which keys ought to serve, by the answers that came so far: kept beside the machine in the plainest way, so that the two
/// can be compared.
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
    /// The keys that the last whole answer was the first to leave out, and until when they serve.
    private(set) var omitted: [String: MonotonicTime] = [:]
    private var everHeld: Set<String> = []
    private var lapsed: Set<String> = []

    /// From now on these keys serve and no others, but for those that had been left out before.
    mutating func begin(anew answer: WalkAnswer, omitting names: [String] = [], until end: MonotonicTime? = nil) {
        take(answer)
        omitted = [:]
        if let end { for name in names { omitted[name] = end } }
        everHeld.formUnion(names)
    }

    /// A whole answer came that is no reason to doubt a key that it leaves out.
    ///
    /// - Returns: how many keys are gone that served until now.
    mutating func compare(_ new: WalkAnswer, until: MonotonicTime) -> Int {
        let before = (answer?.names ?? []).union(omitted.keys)
        let missing = (answer?.usableNames ?? []).subtracting(new.names)
        // A new key that can verify takes the place of those of its `kid`.
        let replaced = Set(new.usableNames.subtracting(before).map(Self.keyID)).subtracting(["-"])
        take(new)
        omitted = Dictionary(
            uniqueKeysWithValues: missing.filter { !replaced.contains(Self.keyID($0)) }.map { ($0, until) })
        return before.subtracting(new.names).subtracting(omitted.keys).count
    }

    private static func keyID(_ name: String) -> Substring { name.prefix { $0 != " " } }

    /// The last answer is said to hold still.
    mutating func confirm(_ answer: WalkAnswer) { take(answer) }

    private mutating func take(_ answer: WalkAnswer) {
        self.answer = answer
        everHeld.formUnion(answer.names)
    }

    /// - Returns: how many keys have served their time.
    mutating func timerFired(_ now: MonotonicTime) -> Int {
        let ended = omitted.filter { $0.value <= now }.keys
        lapsed = Set(ended)
        for name in ended { omitted[name] = nil }
        return lapsed.count
    }

    /// What is wrong with the keys that serve.
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
