import Bytes
import HTTP
import JOSE
import Keys
import TestSupport

/// A driver on a virtual clock that does whatever a real one may do, and checks every effect of the machine.
struct Walk {
    enum Invariant: String {
        case oneFetch = "never two fetches at once"
        case unknownKeyBudget =
            "at most two fetches for unknown keys, and two for bad signatures, in any thirty seconds"
        case missingKeyMemory = "a kid that a fetch has not found causes none for thirty seconds"
        case confirmed = "a bad signature causes no fetch within thirty seconds of a whole answer past caches"
        case unchanged = "a verdict stands only where the last fetch succeeded"
        case refreshLimit = "operators cause at most one fetch a second"
        case plannedInTime = "a planned fetch begins at its time and not before"
        case plannedApart = "planned fetches are half a second apart at least"
        case noFetchInBackoff = "who merely has no keys causes no fetch that backoff has put off"
        case modes = "only a fetch that keeps keys fresh may be content with a confirmation, and that for a day"
        case oneAnswer = "a waiter gets exactly one answer"
        case answeredInTime = "a waiter is answered by the timer at its deadline at the latest"
        case nobodyWaitsForNothing = "who waits, waits for a fetch, for an operator's next one, or for the fallback"
        case keptOnFailure =
            "a snapshot is never replaced but by keys that came, or less keys that have served their time"
        case lifetimeBound = "keys are fresh for five minutes to a day"
        case staleBound = "keys are usable for as long past their freshness as the operator says and no longer"
        case publishedFirst = "a snapshot is published before anyone is told of it"
        case timerSet = "a timer is set when something is due"
        case timerMovesOn = "a timer that has fired is set for later"
        case neverAsleep = "a store that has been started fetches or plans to"
        case pauseBound = "a pause lasts half a second to five minutes, and as long as the server asks"
        case refreshAhead = "keys are refreshed before they turn stale, and soon after an answer that left some out"
        case newerKeysAtOnce = "who was judged by older keys than there are is told so at once"
        case refreshedTruly = "only a fetch that began after the question is called a refresh"
        case versionsRise = "every snapshot has a higher version than the one before"
        case retryLater = "who is refused is told to come back later"
        case statesTold = "a change of state is told once, when it happens"
        case keptOnDisk = "what serves is kept on disk after every answer, and at no other time"
        case restoredFirst = "keys from the disk are taken while the provider has given none, and then alone"
        case fallbackWanted = "the fallback is read when there are no other usable keys, and then alone"
        case fallbackYields = "the fallback's keys take the place of no usable keys of the provider's"
        case fallbackStale = "the fallback's keys are stale from the beginning, and usable for ten minutes"
    }

    /// Counts events by name.
    struct EventCounter {
        private var counts: [String: Int] = [:]

        mutating func note(_ what: String, _ count: Int = 1) { counts[what, default: 0] += count }
        mutating func add(_ other: EventCounter) { counts.merge(other.counts, uniquingKeysWith: +) }

        /// Events that have occurred fewer than fifty times.
        var rare: [String] { Self.all.filter { counts[$0, default: 0] < 50 } }

        private static let all = [
            "success", "confirmation", "thin", "failure", "garbage", "asked to wait", "slow", "given up", "refused",
            "missing", "confirmed", "unchanged", "put off", "omitted", "dropped", "lapsed", "strict", "fell back",
            "no fallback", "restored", "rotated",
            "back in time", "ready", "stale", "unavailable",
        ]
    }

    var violation: String?
    var counter = EventCounter()

    var random: SplitMix64
    let rules: KeyRules
    var machine: Machine
    var provider: WalkProvider
    var ledger = WalkLedger()
    /// The clock, which may go backwards.
    var clock = MonotonicTime(milliseconds: 0)
    /// The latest time that the machine has been given.
    var heard = MonotonicTime(milliseconds: .min)
    var timer: MonotonicTime?
    var fetch: Fetch?
    var fetchesBegun = 0
    var plannedFetch: MonotonicTime?
    var hasFailed = false
    var isStarted = false
    var steps = 0
    var lastPlannedFetch: MonotonicTime?
    /// For unknown keys, and for bad signatures.
    var tokenFetches: [Bool: [MonotonicTime]] = [:]
    var missing: [String: MonotonicTime] = [:]
    var lastRefresh: MonotonicTime?
    /// When the provider last sent a full response past caches.
    var lastReload: MonotonicTime?
    var lastNetworkAnswer: WalkAnswer?
    var lastWholeAnswer: MonotonicTime?
    var waiting: [Int: Waiter] = [:]
    var nextID = 0
    var lastVersion = 0
    var state = KeyState.unavailable
    var fallbackReads = 0

    struct Fetch {
        let mode: FetchMode
        let isStrict: Bool
        /// A slow one ends no earlier than this step.
        let firstStepToEnd: Int
    }

    struct Waiter {
        let need: Machine.FetchReason
        let deadline: MonotonicTime
        /// How many fetches had started before it asked.
        let fetchesBegun: Int
    }

    enum Event: Equatable {
        case start, wait(Machine.FetchReason), success, failure, timer, restored, fallbackSucceeded, fallbackFailed

        var bringsKeys: Bool { [.success, .restored, .fallbackSucceeded].contains(self) }
        var mayDropKeys: Bool { self == .timer }
    }

    init(seed: UInt64, _ sets: WalkKeySets) {
        random = SplitMix64(seed: seed)
        var rules = KeyRules()
        rules.hasFallback = Bool.random(using: &random)
        rules.staleIfError = .seconds([0, 1200, 86400, 86400].randomElement(using: &random)!)
        self.rules = rules
        machine = Machine(rules: rules, random: SplitMix64(seed: seed ^ 0x5eed))
        provider = WalkProvider(sets, &random)
    }

    mutating func takeStep() {
        steps += 1
        passTime()
        let canEnd = fetch.map { $0.firstStepToEnd <= steps } ?? false
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10 where !isStarted: start()
        case 10..<40 where lastVersion == 0: restore()
        case 0..<50: wait()
        case 50..<68 where canEnd: succeed()
        case 68..<84 where canEnd: fail()
        case 84..<88: restore()
        case 88..<92 where fallbackReads > 0: endFallbackRead()
        case 92..<94: rotate()
        default: fireTimer()
        }
        checkRest()
    }

    mutating func fail(_ invariant: Invariant) {
        if violation == nil { violation = invariant.rawValue }
    }

    /// The current time for the machine, which ignores times earlier than the latest.
    mutating func tell() -> MonotonicTime {
        heard = max(heard, clock)
        return clock
    }

    /// Advances the clock, usually a little, occasionally by hours or backwards. Due timers fire, sometimes slightly
    /// late.
    mutating func passTime() {
        let milliseconds: Int64
        switch Int.random(in: 0..<1000, using: &random) {
        case 0..<400: milliseconds = 0
        case 400..<800: milliseconds = .random(in: 0...2000, using: &random)
        case 800..<977: milliseconds = .random(in: 0...60_000, using: &random)
        case 977..<980:
            counter.note("back in time")
            clock = clock - Interval(milliseconds: .random(in: 1...(3 * 3_600_000), using: &random))
            return
        default: milliseconds = .random(in: 0...(40 * 3_600_000), using: &random)
        }
        let later = clock + Interval(milliseconds: milliseconds)
        while let due = timer, due <= later, Int.random(in: 0..<50, using: &random) > 0, violation == nil {
            clock = max(clock, due)
            fireTimer()
        }
        clock = max(clock, later)
    }

    // MARK: Events

    mutating func start() {
        isStarted = true
        run(.start, machine.start(now: tell()))
    }

    mutating func wait() {
        let need: Machine.FetchReason =
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<4: .anyKeys(mayFetch: Bool.random(using: &random))
            case 4..<8: .key(["a", "b", "c", "d"].randomElement(using: &random)!)
            case 8..<14: .key("unknown \(Int.random(in: 0..<50, using: &random))")
            case 14..<17: .replacedKey(["a", "b", "c", "d"].randomElement(using: &random)!)
            case 17..<19: .newerKeys
            default: .refresh(dropsOmitted: Bool.random(using: &random))
            }
        let id = nextID
        nextID += 1
        let deadline = clock + Interval(milliseconds: .random(in: 1...10_000, using: &random))
        waiting[id] = Waiter(need: need, deadline: deadline, fetchesBegun: fetchesBegun)
        let newest = machine.snapshot?.version ?? 0
        // A loop receives new keys slightly later than the store.
        let judgedBy = Int.random(in: 0..<10, using: &random) == 0 ? max(newest - 1, 0) : newest
        let effects = machine.wait(for: need, judgedBy: judgedBy, id: id, until: deadline, now: tell())
        let seen = effects.map(Seen.init)
        let mustLookAgain = !need.isRefresh && judgedBy < newest && machine.snapshot!.isUsable(at: heard)
        if mustLookAgain, seen != [.resume(id, .retry)] { fail(.newerKeysAtOnce) }
        if seen.contains(.report(.tokenFetchRefused)) { counter.note("refused") }
        if need.isRefresh, fetch == nil, !seen.startsFetch { counter.note("put off") }
        if case .replacedKey = need, !mustLookAgain, isConfirmed {
            counter.note("confirmed")
            if seen != [.resume(id, .unchanged)] { fail(.confirmed) }
        }
        if seen.startsFetch { checkBegun(need) }
        run(.wait(need), effects)
    }

    mutating func checkBegun(_ need: Machine.FetchReason) {
        switch need {
        case .anyKeys(let mayFetch):
            if !mayFetch || (hasFailed && (plannedFetch.map { $0 > heard } ?? false)) { fail(.noFetchInBackoff) }
        case .key, .replacedKey, .newerKeys:
            let isUnknown = if case .key = need { true } else { false }
            let fetches = Array((tokenFetches[isUnknown, default: []] + [heard]).suffix(3))
            tokenFetches[isUnknown] = fetches
            if fetches.count == 3, fetches[2] - fetches[0] < .seconds(30) { fail(.unknownKeyBudget) }
            if let keyID = need.keyID, let since = missing[keyID], heard - since < .seconds(30) {
                fail(.missingKeyMemory)
            }
        case .refresh: break
        }
    }

    mutating func restore() {
        let age = Interval(
            milliseconds: .random(
                in: 0...(Bool.random(using: &random) ? 3_600_000 : 60 * 3_600_000), using: &random))
        guard let answer = provider.anyAnswer(&random) else { return }
        let other = Bool.random(using: &random) ? provider.anyAnswer(&random) : nil
        let omitted = (other?.keys.keys ?? []).filter { $0.isUsable && !answer.names.contains(WalkAnswer.name($0)) }
        let before = machine.snapshot
        let effects = machine.restored(
            KeySets.fetched(answer.keys, lifetime: nil, source: .disk), omitted: omitted, age: age, now: tell())
        if let snapshot = machine.snapshot, snapshot.version != before?.version {
            // Rare: at most once per lifetime.
            counter.note("restored", 50)
            if lastWholeAnswer != nil || (before.map { $0.source != .file } ?? false) { fail(.restoredFirst) }
            if !snapshot.isUsable(at: heard) || snapshot.fetchedAt != heard - age { fail(.staleBound) }
            let isLate = age >= .seconds(3600)
            ledger.begin(
                anew: answer, omitting: isLate ? [] : omitted.map(WalkAnswer.name), until: heard - age + .seconds(3600))
        }
        run(.restored, effects)
    }

    mutating func succeed() {
        guard let fetch else { return }
        let confirmed = fetch.mode == .revalidate && Bool.random(using: &random) ? lastNetworkAnswer : nil
        let isThin = Int.random(in: 0..<4, using: &random) == 0
        guard let answer = confirmed ?? (isThin ? provider.thinAnswer(&random) : provider.answer()) else {
            counter.note("garbage")
            return fail(with: FetchFailure(.parse, "the key set holds no key that can verify a signature"))
        }
        counter.note(confirmed != nil ? "confirmation" : isThin ? "thin" : "success")
        if fetch.isStrict { counter.note("strict") }
        let lifetime: Interval? =
            Bool.random(using: &random) ? nil : .seconds(.random(in: 0...200_000, using: &random))
        let time = tell()
        let isDoubted =
            machine.snapshot.map { $0.source != .file && $0.isUsable(at: heard) } ?? false && !fetch.isStrict
        if !isDoubted {
            ledger.begin(anew: answer)
        } else if confirmed != nil {
            ledger.confirm(answer)
        } else {
            counter.note("dropped", ledger.compare(answer, until: heard + .seconds(3600)))
            counter.note("omitted", ledger.omitted.count)
        }
        lastNetworkAnswer = answer
        if confirmed == nil {
            lastWholeAnswer = heard
            if fetch.mode == .reload { lastReload = heard }
        }
        let effects = machine.fetchSucceeded(
            KeySets.fetched(answer.keys, lifetime: lifetime, isNotModified: confirmed != nil), now: time)
        self.fetch = nil
        hasFailed = false
        guard let snapshot = machine.snapshot, snapshot.fetchedAt == heard else { return fail(.keptOnFailure) }
        if !(Interval.seconds(300)...Interval.seconds(86400)).contains(snapshot.freshUntil - heard) {
            fail(.lifetimeBound)
        }
        if snapshot.usableUntil - snapshot.freshUntil != rules.staleIfError { fail(.staleBound) }
        let kept: [[String]] = effects.compactMap { effect in
            guard case .keep(let kept, let omitted, _) = effect else { return nil }
            return (kept.keys.keys + omitted).map(WalkAnswer.name)
        }
        if kept != [snapshot.keys.keys.map(WalkAnswer.name)] { fail(.keptOnDisk) }
        run(.success, effects)
        guard self.fetch == nil else { return }
        let bound = ledger.omitted.isEmpty ? snapshot.freshUntil : min(snapshot.freshUntil, heard + .seconds(300))
        if machine.nextFetch.map({ $0 > heard && $0 < bound }) != true { fail(.refreshAhead) }
    }

    mutating func fail() {
        guard Int.random(in: 0..<3, using: &random) == 0 else { return fail(with: Scene.failure) }
        counter.note("asked to wait")
        let retryAfter = Interval.seconds(.random(in: 0...1000, using: &random))
        fail(with: FetchFailure(.http, "the server answered with status 503", retryAfter: retryAfter))
    }

    mutating func fail(with failure: FetchFailure) {
        counter.note("failure")
        fetch = nil
        hasFailed = true
        run(.failure, machine.fetchFailed(failure, now: tell()))
        // Except for an operator who came too late for the failed fetch, which starts another at once.
        guard fetch == nil else { return }
        let asked = min(failure.retryAfter ?? .seconds(0), .seconds(300))
        let pauses = max(Interval(milliseconds: 500), asked)...Interval.seconds(300)
        if machine.nextFetch.map({ pauses.contains($0 - heard) }) != true { fail(.pauseBound) }
    }

    mutating func endFallbackRead() {
        fallbackReads -= 1
        let time = tell()
        guard Int.random(in: 0..<3, using: &random) > 0, let answer = provider.anyAnswer(&random) else {
            counter.note("no fallback")
            return run(
                .fallbackFailed, machine.fallbackFailed(FetchFailure(.file, "there is no such file"), now: time))
        }
        let before = hasKeysOfProvider ? machine.snapshot?.version : nil
        let effects = machine.fallbackSucceeded(KeySets.fetched(answer.keys, lifetime: nil, source: .file), now: time)
        if let before {
            if machine.snapshot?.version != before || !effects.isEmpty { fail(.fallbackYields) }
        } else {
            counter.note("fell back")
            lastReload = nil
            ledger.begin(anew: answer)
            let snapshot = machine.snapshot
            if snapshot?.source != .file || snapshot?.isStale(at: heard) != true
                || snapshot?.usableUntil != heard + .seconds(600)
            {
                fail(.fallbackStale)
            }
        }
        run(.fallbackSucceeded, effects)
    }

    mutating func rotate() {
        counter.note("rotated")
        provider.rotate(&random)
    }

    mutating func fireTimer() {
        timer = nil
        let time = tell()
        let before = machine.snapshot
        let lapsed = ledger.timerFired(heard)
        counter.note("lapsed", lapsed)
        let waiters = waiting.count
        let effects = machine.timerFired(now: time)
        if effects.contains(where: { if case .publish = $0 { true } else { false } }) != (lapsed > 0) {
            fail(.keptOnFailure)
        }
        if let before, let snapshot = machine.snapshot,
            before.freshUntil != snapshot.freshUntil || before.usableUntil != snapshot.usableUntil
                || before.fetchedAt != snapshot.fetchedAt
        {
            fail(.staleBound)
        }
        run(.timer, effects)
        counter.note("given up", waiters - waiting.count)
        if waiting.values.contains(where: { $0.deadline <= heard }) { fail(.answeredInTime) }
        if let timer, timer <= heard { fail(.timerMovesOn) }
        if state != KeyState(machine.snapshot, at: heard) { fail(.statesTold) }
    }
}
