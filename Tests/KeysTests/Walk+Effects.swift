import HTTP
import JOSE
import Keys

/// The machine's effects, and the invariants that hold for them and between events.
extension Walk {
    mutating func run(_ event: Event, _ effects: [Machine.Effect]) {
        var hasPublished = false
        // When the last usable keys are gone, and after each fetch that brings none.
        var wantsFallback = event == .start || event == .failure
        let readsBefore = fallbackReads
        for effect in effects {
            switch effect {
            case .startFetch(let mode): begin(mode, event)
            case .readFallback: fallbackReads += 1
            case .publish(let snapshot):
                hasPublished = true
                if snapshot.version <= lastVersion { fail(.versionsRise) }
                lastVersion = snapshot.version
                if !event.bringsKeys, !event.mayDropKeys { fail(.keptOnFailure) }
                if let wrong = ledger.violation(of: snapshot), violation == nil { violation = wrong.rawValue }
            case .resume(let id, let outcome): resume(id, outcome, event, hasPublished)
            case .report(.stateChanged(let new)):
                if new == state || new != KeyState(machine.snapshot, at: heard) { fail(.statesTold) }
                state = new
                if new == .unavailable { wantsFallback = true }
                counter.note(new.rawValue)
            case .keep: if event != .success { fail(.keptOnDisk) }
            case .report: break
            case .setTimer(let time): timer = time
            }
        }
        if event == .success, !hasPublished { fail(.keptOnFailure) }
        let mayFallBack = rules.hasFallback && !hasKeysOfProvider
        if fallbackReads - readsBefore != (mayFallBack && wantsFallback && readsBefore == 0 ? 1 : 0) {
            fail(.fallbackWanted)
        }
        if event.bringsKeys || event == .failure { plannedFetch = machine.nextFetch }
    }

    mutating func begin(_ mode: FetchMode, _ event: Event) {
        if fetch != nil { fail(.oneFetch) }
        fetchesBegun += 1
        var isStrict = false
        switch event {
        case .start, .wait(.anyKeys): if mode != plannedMode { fail(.modes) }
        case .wait(.key), .wait(.replacedKey), .wait(.newerKeys): if mode != .reload { fail(.modes) }
        case .timer where operatorsWait && lastRefresh.map { heard - $0 >= .seconds(1) } ?? true:
            beginRefresh()
            isStrict = strictnessWanted
            if mode != .reload { fail(.modes) }
        case .timer:
            if mode != plannedMode { fail(.modes) }
            if plannedFetch.map({ $0 <= heard }) != true { fail(.plannedInTime) }
            if let last = lastPlannedFetch, heard - last < Interval(milliseconds: 500) { fail(.plannedApart) }
            lastPlannedFetch = heard
        case .wait(.refresh), .success, .failure:
            beginRefresh()
            isStrict = strictnessWanted
            if mode != .reload { fail(.modes) }
        case .restored, .fallbackSucceeded, .fallbackFailed: fail(.plannedInTime)
        }
        plannedFetch = nil
        let isSlow = Int.random(in: 0..<10, using: &random) == 0
        if isSlow { counter.note("slow") }
        fetch = Fetch(mode: mode, isStrict: isStrict, firstStepToEnd: steps + (isSlow ? 30 : 0))
    }

    /// A conditional fetch is enough for a day, while there is no doubt about the keys.
    var plannedMode: FetchMode {
        let isDoubtful = hasFailed || !ledger.omitted.isEmpty
        return !isDoubtful && lastWholeAnswer.map { heard - $0 < .seconds(86400) } == true ? .revalidate : .reload
    }

    mutating func resume(_ id: Int, _ outcome: Machine.Outcome, _ event: Event, _ hasPublished: Bool) {
        guard let waiter = waiting.removeValue(forKey: id) else { return fail(.oneAnswer) }
        switch outcome {
        case .refreshed:
            if event != .success || fetchesBegun == waiter.fetchesBegun { fail(.refreshedTruly) }
            if !hasPublished { fail(.publishedFirst) }
            if let keyID = waiter.need.keyID, machine.snapshot?.hasKey(keyID) == false {
                counter.note("missing")
                missing[keyID] = heard
            }
        case .retry:
            if case .wait = event { break }
            let mayAskAgain = event == .failure && waiter.fetchesBegun == fetchesBegun && waiter.need.isForOneKey
            if !hasPublished, !mayAskAgain { fail(.publishedFirst) }
        case .unchanged:
            counter.note("unchanged")
            if case .wait(.replacedKey) = event, isConfirmed { break }
            guard case .wait(let need) = event, need.isForOneKey, !hasFailed else { return fail(.unchanged) }
        case .unavailable(let interval): if interval <= .seconds(0) { fail(.retryLater) }
        }
    }

    // MARK: Between events

    mutating func checkRest() {
        let nextRefresh = lastRefresh.map { $0 + .seconds(1) }
        let waitInVain = waiting.values.contains {
            $0.need.isForAnyKeys ? fallbackReads == 0 : !$0.need.isRefresh || nextRefresh == nil
        }
        if fetch == nil, waitInVain { fail(.nobodyWaitsForNothing) }
        if isStarted, fetch == nil, machine.nextFetch == nil { fail(.neverAsleep) }
        if machine.nextFetch != plannedFetch { fail(.plannedInTime) }
        let millisecond = Interval(milliseconds: 1)
        var due = waiting.values.map(\.deadline) + ledger.omitted.values
        if fetch == nil, let next = operatorsWait ? nextRefresh : machine.nextFetch { due.append(next) }
        if let snapshot = machine.snapshot {
            if state == .ready { due.append(snapshot.freshUntil + millisecond) }
            if state == .stale { due.append(snapshot.usableUntil + millisecond) }
        }
        if let first = due.min(), timer.map({ $0 <= first }) != true { fail(.timerSet) }
    }

    var operatorsWait: Bool { waiting.values.contains { $0.need.isRefresh } }

    /// Whether an operator waits for this fetch with `dropsOmitted`.
    var strictnessWanted: Bool { waiting.values.contains { $0.need == .refresh(dropsOmitted: true) } }

    var isConfirmed: Bool { lastReload.map { heard - $0 < .seconds(30) } ?? false }

    mutating func beginRefresh() {
        if let last = lastRefresh, heard - last < .seconds(1) { fail(.refreshLimit) }
        lastRefresh = heard
    }

    var hasKeysOfProvider: Bool {
        machine.snapshot.map { $0.source != .file && $0.isUsable(at: heard) } ?? false
    }
}

extension Machine.FetchReason {
    fileprivate var isForAnyKeys: Bool { if case .anyKeys = self { true } else { false } }

    fileprivate var isForOneKey: Bool {
        switch self {
        case .key, .replacedKey, .newerKeys: true
        case .anyKeys, .refresh: false
        }
    }
}
