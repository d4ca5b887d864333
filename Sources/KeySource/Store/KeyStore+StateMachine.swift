package import Host
package import JOSE

extension KeyStore {
    /// What a key store does when: pure, so that every rule can be tested without a network or a clock.
    ///
    /// Each event comes with the time and returns the effects that the store then carries out, in order. Time that goes back
    /// stands still.
    package struct StateMachine {
        private var rules: KeyRules
        private var random: any RandomNumberGenerator & Sendable
        package private(set) var snapshot: KeySnapshot?
        package private(set) var lastFailure: FetchFailure?
        package private(set) var nextFetch: MonotonicTime?
        /// The latest time heard of.
        private var now: MonotonicTime
        /// What the snapshot is made of, but for the keys that it left out.
        private var answer: FetchedKeys?
        /// When the provider last sent its keys whole.
        private var lastWholeAnswer: MonotonicTime?
        private var omitted = OmittedKeys()
        private var fetch: Fetch?
        private var consecutiveFailures = 0
        private var waiters = Waiters()
        private var unknownKeys: UnknownKeyBudget
        private var reportedState = KeyState.unavailable
        private var isFallbackBroken = false
        /// Until when the provider's last whole answer, fetched past caches, counts as news of every key in it.
        private var confirmedUntil: MonotonicTime?
        /// When an operator may cause the next fetch.
        private var nextRefresh: MonotonicTime?

        /// A fetch under way.
        private struct Fetch {
            let mode: FetchMode
            /// Whether keys that it does not find are dropped at once: an operator asks for that.
            let isStrict: Bool
        }

        package init(
            rules: KeyRules, random: any RandomNumberGenerator & Sendable,
            now: MonotonicTime = MonotonicTime(milliseconds: .min)
        ) {
            self.rules = rules
            self.random = random
            self.now = now
            unknownKeys = UnknownKeyBudget(rules)
        }

        package typealias WaiterID = Int

        /// Why a request needs what the snapshot does not hold.
        package enum Need: Sendable, Equatable {
            /// There are no usable keys at all. A token that could not pass with them does not cause a fetch, but waits for
            /// the one that is under way.
            case anyKeys(mayFetch: Bool)
            /// No key of the set carries the token's `kid`.
            case key(String)
            /// The key that carries the token's `kid` did not make its signature: the provider may have replaced it.
            case replacedKey(String)
            /// Nothing in the token says which key it needs, or it needs an algorithm that was not listed: only newer keys
            /// can tell.
            case newerKeys
            /// An operator wants a fetch that begins from now on.
            ///
            /// - Parameter dropsOmitted: whether keys that it does not find are dropped at once.
            case refresh(dropsOmitted: Bool)

            package var isRefresh: Bool { if case .refresh = self { true } else { false } }

            /// The `kid` that it is about.
            package var keyID: String? {
                switch self {
                case .key(let keyID), .replacedKey(let keyID): keyID
                case .anyKeys, .newerKeys, .refresh: nil
                }
            }
        }

        /// What became of a request's need.
        package enum Outcome: Sendable, Equatable {
            /// A fetch that began after the request asked has succeeded: what is not there now is nowhere.
            case refreshed
            /// There are newer keys than the request was judged by, or a fetch that had begun before it asked has ended: look
            /// again, and ask again.
            case retry
            /// No fetch is due: the last one succeeded a short while ago, so the verdict by its keys stands.
            case unchanged
            /// The last fetch failed, or the one that the request waited for: newer keys can't be had now. Ask again after this
            /// interval at the earliest.
            case unavailable(retryAfter: Interval)
        }

        package enum Effect: Sendable {
            case startFetch(FetchMode)
            /// Call ``fallbackSucceeded(_:now:)`` or ``fallbackFailed(_:now:)``.
            case readFallback
            case publish(KeySnapshot)
            /// Keep the keys on disk, with those that they omit, if there is a place for them.
            case keep(FetchedKeys, omitted: [JWK], lifetime: Interval)
            case resume(WaiterID, Outcome)
            case report(KeyEvent)
            /// Call ``timerFired(now:)`` at this time instead of any earlier one asked for.
            case setTimer(MonotonicTime)
        }

        // MARK: Events

        /// Keys were found that an earlier process had fetched, `age` ago.
        ///
        /// - Parameter omittedKeys: those that served on although the answer had left them out.
        package mutating func restored(
            _ fetched: FetchedKeys, omitted omittedKeys: [JWK] = [], age: Interval, now time: MonotonicTime
        ) -> [Effect] {
            advance(to: time)
            // What has been fetched meanwhile is newer, even where it has served its time: these could bring back keys that
            // it had dropped, and a confirmation of it would not be of them. Only the fallback's keys are less than these.
            guard lastWholeAnswer == nil, snapshot == nil || snapshot?.source == .file else { return [] }
            let fetchedAt = now - age
            let lifetime = rules.lifetime(fetched.lifetime)
            let usableUntil = fetchedAt + lifetime + rules.staleIfError
            guard now <= usableUntil else { return [] }
            omitted = OmittedKeys(omittedKeys, until: fetchedAt + rules.graceForOmittedKeys, now: now)
            answer = fetched
            let current = makeSnapshot(
                fetched, fetchedAt: fetchedAt, freshUntil: fetchedAt + lifetime, usableUntil: usableUntil)
            return finish(publish(current) + resumeWaitersForAnyKeys())
        }

        /// The store begins its life.
        package mutating func start(now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            return finish(fetch == nil ? beginFetch(plannedMode) : [], readingFallback: true)
        }

        /// A request can't be answered from the snapshot.
        ///
        /// - Parameter version: the snapshot's that the request was judged by; 0 where it had none.
        package mutating func wait(
            for need: Need, judgedBy version: Int, id: WaiterID, until deadline: MonotonicTime, now time: MonotonicTime
        ) -> [Effect] {
            advance(to: time)
            if !need.isRefresh, let snapshot, snapshot.version > version, snapshot.isUsable(at: now) {
                return [.resume(id, .retry)]
            }
            var effects: [Effect] = []
            switch need {
            case .anyKeys(let mayFetch):
                // After a failure nobody waits for the next attempt, which backoff has put off.
                let isPutOff = consecutiveFailures > 0 && (nextFetch ?? now) > now
                if fetch == nil, isPutOff || !mayFetch {
                    return [.resume(id, .unavailable(retryAfter: max((nextFetch ?? now) - now, rules.minimumBackoff)))]
                }
                if fetch == nil { effects = beginFetch(plannedMode) }
            case .key, .replacedKey, .newerKeys:
                if case .replacedKey = need, snapshot?.isConfirmed(at: now) == true { return [.resume(id, .unchanged)] }
                if let keyID = need.keyID, unknownKeys.isMissing(keyID, now: now) {
                    return [.resume(id, outcomeWithoutFetch)]
                }
                guard fetch == nil else { break }
                guard unknownKeys.spend(now: now) else {
                    return [.report(.unknownKeyFetchRefused), .resume(id, outcomeWithoutFetch)]
                }
                effects = [.report(.unknownKeyFetchSpent)] + beginFetch(.reload)
            case .refresh:
                waiters.append(Waiters.Waiter(id: id, need: need, deadline: deadline, joinedLate: true))
                return finish(fetch == nil ? fetchForLateWaiters() : [])
            }
            // A request that has just begun a fetch is the only one that did not come late for it.
            let joinedLate = effects.isEmpty
            waiters.append(Waiters.Waiter(id: id, need: need, deadline: deadline, joinedLate: joinedLate))
            return finish(effects)
        }

        /// The fetch under way ended well.
        package mutating func fetchSucceeded(_ fetched: FetchedKeys, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            let isStrict = fetch?.isStrict ?? false
            let isReload = fetch?.mode == .reload
            fetch = nil
            let hasRecovered = consecutiveFailures > 0
            consecutiveFailures = 0
            lastFailure = nil
            recordOmissions(by: fetched, isStrict: isStrict)
            answer = fetched
            if !fetched.isNotModified {
                lastWholeAnswer = now
                // A conditional answer may be a cache's, which has not heard of the change.
                if isReload { confirmedUntil = now + rules.missingKeyMemory }
            }
            let lifetime = rules.lifetime(fetched.lifetime)
            let current = makeSnapshot(
                fetched, fetchedAt: now, freshUntil: now + lifetime, usableUntil: now + lifetime + rules.staleIfError)
            // What has been left out is settled soon.
            let untilNext = omitted.isEmpty ? lifetime : min(lifetime, rules.minimumLifetime)
            nextFetch = now + (rules.pollInterval ?? untilNext * .random(in: rules.refreshAhead, using: &random))

            var effects =
                publish(current) + [.keep(fetched, omitted: omitted.keys, lifetime: lifetime), .report(.fetched)]
            if hasRecovered { effects.append(.report(.recovered)) }
            for waiter in waiters.remove(where: { !$0.needsAnotherFetch }) {
                if !waiter.joinedLate, let keyID = waiter.need.keyID, !current.hasKey(keyID) {
                    unknownKeys.remember(missing: keyID, now: now)
                }
                effects.append(.resume(waiter.id, waiter.joinedLate ? .retry : .refreshed))
            }
            return finish(effects + fetchForLateWaiters())
        }

        /// The fetch under way failed; the keys we have stay as they are.
        package mutating func fetchFailed(_ failure: FetchFailure, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            fetch = nil
            lastFailure = failure
            consecutiveFailures += 1
            let askedFor = min(failure.retryAfter ?? .seconds(0), rules.maximumBackoff)
            let pause = max(backoff(), askedFor)
            nextFetch = now + pause
            var effects: [Effect] = [.report(.fetchFailed(failure, isFirst: consecutiveFailures == 1))]
            for waiter in waiters.remove(where: { !$0.needsAnotherFetch }) {
                // A fetch of its own may do better than the one that it came too late for, if the budget has one.
                let asksAgain = waiter.joinedLate && !waiter.needsAnyKeys
                effects.append(.resume(waiter.id, asksAgain ? .retry : .unavailable(retryAfter: pause)))
            }
            return finish(effects + fetchForLateWaiters(), readingFallback: true)
        }

        /// The fallback's keys have been read: they serve until the provider gives some, or they are read again.
        package mutating func fallbackSucceeded(_ keys: FetchedKeys, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            isFallbackBroken = false
            guard needsFallback else { return [] }
            omitted.dropAll()
            confirmedUntil = nil
            answer = keys
            // Stale from the beginning: they serve because the provider has given none. They are read again after each
            // fetch that fails, at the latest after the longest pause.
            let current = makeSnapshot(
                keys, fetchedAt: now, freshUntil: now - Interval(milliseconds: 1),
                usableUntil: now + rules.maximumBackoff * 2)
            return finish(publish(current) + resumeWaitersForAnyKeys())
        }

        /// The fallback has no usable keys.
        package mutating func fallbackFailed(_ failure: FetchFailure, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            defer { isFallbackBroken = true }
            return isFallbackBroken ? [] : [.report(.fallbackFailed(failure))]
        }

        /// The time asked for by ``Effect/setTimer(_:)`` has come.
        package mutating func timerFired(now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            var effects: [Effect] = []
            if omitted.dropExpired(now: now), let snapshot, let answer {
                effects = publish(
                    makeSnapshot(
                        answer, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil,
                        usableUntil: snapshot.usableUntil))
            }
            if let deadline = waiters.firstDeadline, deadline <= now {
                let expired = waiters.remove { [now] in $0.deadline <= now }
                effects += expired.map { .resume($0.id, .unavailable(retryAfter: rules.firstBackoff)) }
            }
            if fetch == nil { effects += fetchForLateWaiters() }
            // While operators wait for theirs, which comes within a second, it does for the planned one.
            if fetch == nil, waiters.isEmpty, let nextFetch, nextFetch <= now { effects += beginFetch(plannedMode) }
            return finish(effects)
        }

        /// Keys are to serve this long past their lifetime from now on; those at hand too, but for the fallback's.
        package mutating func staleIfErrorChanged(to staleIfError: Interval, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            guard staleIfError != rules.staleIfError else { return [] }
            rules.staleIfError = staleIfError
            guard let snapshot, let answer, !(rules.hasFallback && snapshot.source == .file) else { return [] }
            let current = makeSnapshot(
                answer, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil,
                usableUntil: snapshot.freshUntil + staleIfError)
            return finish(publish(current))
        }

        // MARK: Keys

        /// Whether the fallback's keys are better than none.
        private var needsFallback: Bool {
            rules.hasFallback && (snapshot.map { $0.source == .file || !$0.isUsable(at: now) } ?? true)
        }

        private func makeSnapshot(
            _ fetched: FetchedKeys, fetchedAt: MonotonicTime, freshUntil: MonotonicTime, usableUntil: MonotonicTime
        ) -> KeySnapshot {
            KeySnapshot(
                version: (snapshot?.version ?? 0) + 1, fetched, omitted: omitted.keys, fetchedAt: fetchedAt,
                confirmedUntil: confirmedUntil, freshUntil: freshUntil, usableUntil: usableUntil)
        }

        private mutating func publish(_ current: KeySnapshot) -> [Effect] {
            let hasChanged = snapshot?.fingerprint != current.fingerprint
            snapshot = current
            return [.publish(current)] + (hasChanged ? [.report(.keysChanged(keyIDs: current.keyIDs))] : [])
        }

        private mutating func recordOmissions(by fetched: FetchedKeys, isStrict: Bool) {
            // What an operator has asked for or written down is not doubted, nor are keys missed that nobody could use.
            guard !isStrict, fetched.source == .network, let snapshot, snapshot.source != .file,
                snapshot.isUsable(at: now)
            else { return omitted.dropAll() }
            guard !fetched.isNotModified else { return }
            omitted.compare(fetched.keys, with: snapshot.keys, until: now + rules.graceForOmittedKeys)
        }

        // MARK: Fetches

        /// A confirmation will do only while nothing is in doubt: a server may answer conditional requests wrongly or not at
        /// all, and validators may lie, so none is trusted after a failure, nor for longer than keys live.
        private var plannedMode: FetchMode {
            let isSeenWholeLately = lastWholeAnswer.map { now - $0 < rules.maximumLifetime } ?? false
            return omitted.isEmpty && consecutiveFailures == 0 && isSeenWholeLately ? .revalidate : .reload
        }

        private mutating func beginFetch(_ mode: FetchMode, isStrict: Bool = false) -> [Effect] {
            fetch = Fetch(mode: mode, isStrict: isStrict)
            nextFetch = nil
            return [.startFetch(mode)]
        }

        /// What a request is told whose need is no reason for a fetch now.
        private var outcomeWithoutFetch: Outcome {
            guard lastFailure != nil else { return .unchanged }
            let pause = nextFetch.map { $0 - now } ?? rules.firstBackoff
            return .unavailable(retryAfter: max(min(pause, rules.unknownKeyWindow), rules.minimumBackoff))
        }

        /// Exponential with full jitter: anything between nothing and the exponential bound, but for a floor that keeps
        /// a fast failure from becoming a tight loop.
        private mutating func backoff() -> Interval {
            let exponent = min(consecutiveFailures - 1, 16)
            let bound = min(rules.firstBackoff * Double(1 << exponent), rules.maximumBackoff)
            return max(bound * Double.random(in: 0..<1, using: &random), rules.minimumBackoff)
        }

        // MARK: Waiters

        private mutating func resumeWaitersForAnyKeys() -> [Effect] {
            waiters.remove(where: \.needsAnyKeys).map { .resume($0.id, .retry) }
        }

        /// Begins the fetch that operators wait for, if they may have one by now: while none is under way, nobody else waits.
        private mutating func fetchForLateWaiters() -> [Effect] {
            guard !waiters.isEmpty, nextRefresh.map({ $0 <= now }) ?? true else { return [] }
            waiters.fetchBegan()
            nextRefresh = now + rules.refreshInterval
            let isStrict = waiters.contains { $0.need == .refresh(dropsOmitted: true) }
            return beginFetch(.reload, isStrict: isStrict)
        }

        // MARK: Time

        private mutating func advance(to time: MonotonicTime) { now = max(now, time) }

        /// What every event ends with: a change of state is told, and the timer set for whatever is due next.
        ///
        /// - Parameter readingFallback: whether the fallback, where there is need of it, is to be read; when the last keys
        ///   have just become unusable, it is in any case.
        private mutating func finish(_ effects: [Effect], readingFallback: Bool = false) -> [Effect] {
            var effects = effects
            let state = KeyState(snapshot, at: now)
            let hasChanged = state != reportedState
            reportedState = state
            if hasChanged { effects.append(.report(.stateChanged(state))) }
            if needsFallback, readingFallback || (hasChanged && state == .unavailable) { effects.append(.readFallback) }
            if let due = nextDue(state) { effects.append(.setTimer(due)) }
            return effects
        }

        private func nextDue(_ state: KeyState) -> MonotonicTime? {
            let nextFetch = fetch != nil ? nil : waiters.isEmpty ? nextFetch : nextRefresh
            var times = [waiters.firstDeadline, nextFetch, omitted.firstEnd].compactMap(\.self)
            // A moment later they are past it.
            switch state {
            case .ready: if let snapshot { times.append(snapshot.freshUntil + Interval(milliseconds: 1)) }
            case .stale: if let snapshot { times.append(snapshot.usableUntil + Interval(milliseconds: 1)) }
            case .unavailable: break
            }
            return times.min()
        }
    }
}
