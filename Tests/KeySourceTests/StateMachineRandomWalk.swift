import Clocks
import JOSE
import KeySource
import TestSupport
import Testing

private import class Foundation.ProcessInfo

/// What must hold whatever happens in whatever order. A failure names the seed; with it in `ASSAY_WALK_SEED` the same walk
/// is taken again.
@Suite struct StateMachineRandomWalk {
    @Test func `the invariants hold on a long random walk`() throws {
        let seed =
            ProcessInfo.processInfo.environment["ASSAY_WALK_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
        print("random walk of the key store's state machine: ASSAY_WALK_SEED=\(seed)")
        // Several lives: some invariants are about the beginning of one.
        var generator = SeededGenerator(seed: seed)
        for life in 0..<40 {
            var walk = Walk(seed: generator.next())
            for step in 0..<3000 {
                walk.takeStep()
                if let violation = walk.violation {
                    Issue.record("\(violation), at step \(step) of life \(life), ASSAY_WALK_SEED=\(seed)")
                    return
                }
            }
            #expect(walk.isLively, "a walk on which too little happens shows nothing: ASSAY_WALK_SEED=\(seed)")
        }
    }
}

/// A driver on a virtual clock that does what a real one may do, and checks the machine's every answer.
private struct Walk {
    enum Invariant: String {
        case oneFetch = "never two fetches at once"
        case unknownKeyBudget = "at most two fetches for unknown keys in any thirty seconds"
        case oneAnswer = "a waiter gets exactly one answer"
        case answeredInTime = "a waiter is answered by the timer at its deadline at the latest"
        case nobodyWaitsForNothing = "who waits, waits for a fetch"
        case keptOnFailure = "a snapshot is never replaced but by a fetch that ended well"
        case lifetimeBound = "keys are fresh for five minutes to a day"
        case staleBound = "keys are usable for a day past their freshness and no longer"
        case publishedFirst = "a snapshot is published before anyone is told of it"
        case timerSet = "a timer is set when something is due"
        case neverAsleep = "a store that has been started fetches or plans to"
        case backoffBound = "a pause lasts half a second to five minutes"
        case refreshAhead = "keys are refreshed before they turn stale"
        case newerKeysAtOnce = "who was judged by older keys than there are is told so at once"
        case refreshedTruly = "only a fetch that began after the question is called a refresh"
        case versionsRise = "every snapshot has a higher version than the one before"
        case retryLater = "who is refused is told to come back later"
    }

    var violation: Invariant?

    private var random: SeededGenerator
    private var machine: Machine
    private var now = MonotonicTime(milliseconds: 0)
    private var isStarted = false
    private var isFetching = false
    private var timer: MonotonicTime?
    private var waiting: [Int: Waiter] = [:]
    private var lastVersion = 0
    private var fetchesBegun = 0
    private var nextID = 0
    private var unknownKeyFetches: [MonotonicTime] = []
    private var successes = 0, failures = 0, givenUp = 0, refused = 0

    private struct Waiter {
        let deadline: MonotonicTime
        /// How many fetches had begun before it asked.
        let fetchesBegun: Int
    }

    /// Few, so that they come and go and come again.
    private static let keyIDs = ["a", "b", "c", "d", "e", "f"]
    /// A set for every choice of them but none.
    private static let keySets = (1..<64).map { choice in
        try! JWKSet(KeySets.json(keyIDs.indices.filter { choice >> $0 & 1 == 1 }.map { keyIDs[$0] }))
    }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        machine = Machine(rules: KeyRules(), random: SeededGenerator(seed: seed ^ 0x5eed))
    }

    var isLively: Bool { successes > 50 && failures > 50 && givenUp > 10 && refused > 10 }

    private enum Event { case start, wait, success, failure, timer, restored }

    mutating func takeStep() {
        passTime()
        switch Int.random(in: 0..<100, using: &random) {
        case 0: run(.start, machine.start(now: now))
        case 95: restore()
        case 1..<55: wait()
        case 55..<75 where isFetching: succeed()
        case 75..<95 where isFetching: fail()
        default: fireTimer()
        }
        checkRest()
    }

    /// Moves the clock, mostly a little and now and then by hours; a timer that comes due fires, seldom a little late.
    private mutating func passTime() {
        let milliseconds: Int64 =
            switch Int.random(in: 0..<1000, using: &random) {
            case 0..<400: 0
            case 400..<800: .random(in: 0...2000, using: &random)
            case 800..<980: .random(in: 0...60_000, using: &random)
            default: .random(in: 0...(40 * 3_600_000), using: &random)
            }
        let later = now + Interval(milliseconds: milliseconds)
        while let due = timer, due <= later, Int.random(in: 0..<50, using: &random) > 0, violation == nil {
            now = max(now, due)
            fireTimer()
        }
        now = max(now, later)
    }

    private mutating func wait() {
        let need: Machine.Need =
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<2: .anyKeys(mayFetch: Bool.random(using: &random))
            case 2..<8: .key(Self.keyIDs.randomElement(using: &random)!)
            case 8: .newerKeys
            default: .refresh
            }
        let id = nextID
        nextID += 1
        let deadline = now + Interval(milliseconds: .random(in: 1...10_000, using: &random))
        waiting[id] = Waiter(
            deadline: deadline, fetchesBegun: fetchesBegun)
        let newest = machine.snapshot?.version ?? 0
        // A loop hears of new keys a little after the store has them.
        let judgedBy = Int.random(in: 0..<10, using: &random) == 0 ? max(newest - 1, 0) : newest
        let mustLookAgain = need != .refresh && judgedBy < newest && machine.snapshot!.isUsable(at: now)
        let effects = machine.wait(for: need, judgedBy: judgedBy, id: id, until: deadline, now: now)
        let seen = effects.map(Seen.init)
        if mustLookAgain, seen != [.resume(id, .changed)] { violation = .newerKeysAtOnce }
        if seen.startsFetch, need.countsAgainstBudget { unknownKeyFetches.append(now) }
        if seen.contains(.report(.unknownKeyFetchRefused)) { refused += 1 }
        run(.wait, effects)
    }

    private mutating func restore() {
        let age = Interval(milliseconds: .random(in: 0...(60 * 3_600_000), using: &random))
        let before = machine.snapshot?.version
        run(
            .restored,
            machine.restored(
                KeySets.fetched(Self.keySets.randomElement(using: &random)!, lifetime: nil), age: age, now: now))
        if before != nil, machine.snapshot?.version != before { violation = .keptOnFailure }
        if let snapshot = machine.snapshot, before == nil, !snapshot.isUsable(at: now) { violation = .staleBound }
    }

    private mutating func succeed() {
        successes += 1
        isFetching = false
        let lifetime: Interval? =
            Bool.random(using: &random) ? nil : .seconds(.random(in: 0...200_000, using: &random))
        let effects = machine.fetchSucceeded(
            KeySets.fetched(Self.keySets.randomElement(using: &random)!, lifetime: lifetime), now: now)
        guard let snapshot = machine.snapshot, snapshot.fetchedAt == now else { return violation = .keptOnFailure }
        let lifetimes = Interval.seconds(300)...Interval.seconds(86400)
        if !lifetimes.contains(snapshot.freshUntil - now) { violation = .lifetimeBound }
        if snapshot.usableUntil - snapshot.freshUntil != .seconds(86400) { violation = .staleBound }
        run(.success, effects)
        if !isFetching, machine.nextFetch.map({ $0 > now && $0 < snapshot.freshUntil }) != true {
            violation = .refreshAhead
        }
    }

    private mutating func fail() {
        failures += 1
        isFetching = false
        run(.failure, machine.fetchFailed(Scene.failure, now: now))
        // But for an operator who came too late for the fetch that failed, and has another one begin at once.
        guard let next = machine.nextFetch else {
            if !isFetching { violation = .neverAsleep }
            return
        }
        let pauses = Interval(milliseconds: 500)...Interval.seconds(300)
        if !pauses.contains(next - now) { violation = .backoffBound }
    }

    private mutating func fireTimer() {
        let wasWaiting = waiting.count
        timer = nil
        run(.timer, machine.timerFired(now: now))
        givenUp += wasWaiting - waiting.count
        if waiting.values.contains(where: { $0.deadline <= now }) { violation = .answeredInTime }
    }

    private mutating func run(_ event: Event, _ effects: [Machine.Effect]) {
        var hasPublished = false
        for effect in effects {
            switch effect {
            case .startFetch:
                if isFetching { violation = .oneFetch }
                isFetching = true
                isStarted = true
                fetchesBegun += 1
            case .publish(let snapshot):
                hasPublished = true
                if snapshot.version <= lastVersion { violation = .versionsRise }
                lastVersion = snapshot.version
                if event != .success, event != .restored { violation = .keptOnFailure }
            case .resume(let id, let outcome):
                guard let waiter = waiting.removeValue(forKey: id) else {
                    violation = .oneAnswer
                    break
                }
                switch outcome {
                case .refreshed where event != .success || fetchesBegun == waiter.fetchesBegun:
                    violation = .refreshedTruly
                case .refreshed, .changed: if event != .wait, !hasPublished { violation = .publishedFirst }
                case .unavailable(let interval): if interval <= .seconds(0) { violation = .retryLater }
                }
            case .keep, .report: break
            case .setTimer(let time): timer = time
            }
        }
        if event == .success, !hasPublished { violation = .keptOnFailure }
    }

    /// What must hold between events.
    private mutating func checkRest() {
        if !waiting.isEmpty, !isFetching { violation = .nobodyWaitsForNothing }
        if isStarted, !isFetching, machine.nextFetch == nil { violation = .neverAsleep }
        let due = (waiting.values.map(\.deadline) + [machine.nextFetch].compactMap(\.self)).min()
        if let due, timer.map({ $0 <= due }) != true { violation = .timerSet }
        let window = Interval.seconds(30)
        unknownKeyFetches = unknownKeyFetches.suffix(3)
        if unknownKeyFetches.count == 3, unknownKeyFetches[2] - unknownKeyFetches[0] < window {
            violation = .unknownKeyBudget
        }
    }
}

extension Machine.Need {
    fileprivate var countsAgainstBudget: Bool {
        switch self {
        case .key, .newerKeys: true
        case .anyKeys, .refresh: false
        }
    }
}
