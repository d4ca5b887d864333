package import HTTP
package import JOSE

extension KeyStore {
    /// Decides what a key store does, and when. It is pure, so that every rule can be tested without a network or a
    /// clock.
    ///
    /// Each event receives the time and returns effects, which the store performs in order. If the time goes back, the
    /// previous time is used.
    package struct StateMachine {
        var rules: KeyRules
        private var random: any RandomNumberGenerator & Sendable
        package private(set) var snapshot: KeySnapshot?
        package private(set) var lastFailure: FetchFailure?
        package private(set) var nextFetch: MonotonicTime?
        /// The latest time received.
        private(set) var now: MonotonicTime
        /// The last result, from which the snapshot was made together with omitted keys.
        var answer: FetchedKeys?
        /// When the provider last sent its complete keys.
        private var lastWholeAnswer: MonotonicTime?
        var omitted = OmittedKeys()
        var fetch: Fetch?
        package private(set) var consecutiveFailures = 0
        /// Whether a planned fetch was left out, because the keys were not used.
        private(set) var isRefreshOverdue = false
        private var waiters = Waiters()
        /// For tokens with an unknown `kid`.
        private var unknownKeys: FetchBudget
        /// For tokens that fit no current key in another way, such as a bad signature. A budget of their own: forged
        /// tokens of one sort must not delay genuine ones of the other.
        private var otherTokens: FetchBudget
        private var missing: MissingKeys
        private var sought = SoughtKeys()
        private var reportedState = KeyState.unavailable
        var isFallbackBroken = false
        /// Whether the fallback is being read. Requests without any keys wait for it.
        var isReadingFallback = false
        /// Until when the provider's last complete response that bypassed caches confirms every key in it.
        var confirmedUntil: MonotonicTime?
        /// When an operator may cause the next fetch.
        private var nextRefresh: MonotonicTime?

        /// A fetch in progress.
        struct Fetch {
            let mode: FetchMode
            /// Whether keys that it does not find are dropped at once, because an operator requested it.
            let isStrict: Bool
        }

        package init(
            rules: KeyRules, random: any RandomNumberGenerator & Sendable,
            now: MonotonicTime = MonotonicTime(milliseconds: .min)
        ) {
            self.rules = rules
            self.random = random
            self.now = now
            unknownKeys = FetchBudget(rules)
            otherTokens = FetchBudget(rules)
            missing = MissingKeys(rules)
            consecutiveFailures = rules.priorFailures
        }

        package typealias WaiterID = Int

        /// Why a fetch is needed now.
        package var fetchKind: FetchQueue.Kind {
            if consecutiveFailures > 0 { .retry } else if snapshot == nil { .first } else { .refresh }
        }

        /// The keys that a fetch asks for, if they are fetched one by one.
        package var soughtKeyIDs: [String] { sought.requests }

        // MARK: Events

        /// Keys of an earlier process were restored; they were fetched `age` ago.
        ///
        /// - Parameter omittedKeys: keys that were still in use although the response omitted them.
        package mutating func restored(
            _ fetched: FetchedKeys, omitted omittedKeys: [JWK] = [], age: Interval, now time: MonotonicTime
        ) -> [Effect] {
            advance(to: time)
            // Keys that were fetched meanwhile are newer, even if they have expired: restored keys could bring back
            // some that the provider has dropped. Only the fallback's keys are worse than restored ones.
            guard lastWholeAnswer == nil, snapshot == nil || snapshot?.source == .file else { return [] }
            let fetchedAt = now - age
            let lifetime = rules.lifetime(fetched.lifetime)
            let usableUntil = fetchedAt + lifetime + (rules.isLazy ? .seconds(0) : rules.staleIfError)
            guard now <= fetchedAt + lifetime + rules.staleIfError else { return [] }
            omitted = OmittedKeys(omittedKeys, until: fetchedAt + rules.graceForOmittedKeys, now: now)
            answer = fetched
            if rules.findsKeysByID { sought.adopt((fetched.keys.keys + omittedKeys).compactMap(\.keyID)) }
            let current = makeSnapshot(
                fetched, fetchedAt: fetchedAt, freshUntil: fetchedAt + lifetime, usableUntil: usableUntil)
            return finish(publish(current) + (current.isUsable(at: now) ? resumeWaitersForAnyKeys() : []))
        }

        /// The store starts.
        package mutating func start(now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            return finish(fetch == nil ? beginFetch(plannedMode) : [], readingFallback: true)
        }

        /// A request can't be decided with its snapshot.
        ///
        /// - Parameter version: the version of that snapshot; 0 if there was none.
        package mutating func wait(
            for need: FetchReason, judgedBy version: Int, id: WaiterID, until deadline: MonotonicTime,
            now time: MonotonicTime
        ) -> [Effect] {
            advance(to: time)
            if !need.isRefresh, let snapshot, snapshot.version > version, snapshot.isUsable(at: now) {
                return [.resume(id, .retry)]
            }
            var effects: [Effect] = []
            switch need {
            case .anyKeys(let mayFetch):
                // After a failure, requests don't wait for the next attempt, which may be minutes away.
                let isPutOff = consecutiveFailures > 0 && (nextFetch ?? now) > now
                let mayBegin = mayFetch && !isPutOff
                let mayFallBack = isReadingFallback && needsFallback
                guard fetch != nil || mayBegin || mayFallBack else { return [.resume(id, outcomeUntilNextFetch)] }
                if fetch == nil, mayBegin { effects = beginFetch(plannedMode) }
            case .key, .replacedKey, .newerKeys:
                // If each key has its own URL, a `kid` is never reused for another key.
                if case .replacedKey = need, rules.findsKeysByID || snapshot?.isConfirmed(at: now) == true {
                    return [.resume(id, .unchanged)]
                }
                if let keyID = need.keyID, missing.contains(keyID, now: now) {
                    return [.resume(id, outcomeWithoutFetch)]
                }
                // Record the key even if this token causes no fetch: the next fetch asks for all recorded keys.
                if rules.findsKeysByID, let keyID = need.keyID { sought.seek(keyID) }
                guard fetch == nil else { break }
                let isAllowed = isUnknown(need) ? unknownKeys.spend(now: now) : otherTokens.spend(now: now)
                guard isAllowed else {
                    return [.report(.tokenFetchRefused), .resume(id, outcomeWithoutBudget)]
                }
                effects = [.report(.tokenFetchBegan)] + beginFetch(.reload)
            case .refresh:
                waiters.append(Waiters.Waiter(id: id, need: need, deadline: deadline, missedFetchStart: true))
                return finish(fetch == nil ? fetchForLateWaiters() : [])
            }
            // Without effects, this request started no fetch: it joined one in progress, and missed its start.
            let missedFetchStart = effects.isEmpty
            waiters.append(Waiters.Waiter(id: id, need: need, deadline: deadline, missedFetchStart: missedFetchStart))
            return finish(effects)
        }

        /// The fetch in progress succeeded.
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
                // A conditional response may come from a cache that does not know of a change.
                if isReload { confirmedUntil = now + rules.missingKeyMemory }
            }
            let lifetime = rules.lifetime(fetched.lifetime)
            let current = makeSnapshot(
                fetched, fetchedAt: now, freshUntil: now + lifetime,
                usableUntil: now + lifetime + (rules.isLazy ? .seconds(0) : rules.staleIfError))
            // Fetch soon to find out whether omitted keys are gone.
            let untilNext = omitted.isEmpty ? lifetime : min(lifetime, rules.minimumLifetime)
            nextFetch = now + (rules.pollInterval ?? untilNext * .random(in: rules.refreshAhead, using: &random))

            sought.fetchSucceeded { current.hasKey($0) }
            var effects = publish(current) + keep(fetched) + [.report(.fetched)]
            if hasRecovered { effects.append(.report(.recovered)) }
            for waiter in waiters.remove(where: { !$0.needsAnotherFetch }) {
                if !waiter.missedFetchStart, let keyID = waiter.need.keyID, !current.hasKey(keyID) {
                    missing.insert(keyID, now: now)
                }
                // Where keys are fetched one by one, the token may need one that this fetch did not request.
                let mustAskAgain = waiter.missedFetchStart || (rules.findsKeysByID && waiter.needsAnyKeys)
                effects.append(.resume(waiter.id, mustAskAgain ? .retry : .refreshed))
            }
            return finish(effects + fetchForLateWaiters())
        }

        /// The fetch in progress failed. The current keys stay.
        package mutating func fetchFailed(_ failure: FetchFailure, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            fetch = nil
            sought.fetchFailed { snapshot?.hasKey($0) == true }
            lastFailure = failure
            consecutiveFailures += 1
            let askedFor = min(failure.retryAfter ?? .seconds(0), rules.maximumBackoff)
            let pause = max(backoff(), askedFor)
            nextFetch = now + pause
            var effects: [Effect] = [.report(.fetchFailed(failure, isFirst: consecutiveFailures == 1))]
            effects += useExpiredKeys()
            // The fallback may be read in a moment.
            let mayFallBack = needsFallback
            for waiter in waiters.remove(where: { !$0.needsAnotherFetch && !($0.needsAnyKeys && mayFallBack) }) {
                // A request that joined late may start a fetch of its own, if the budget allows it.
                let asksAgain = waiter.missedFetchStart && !waiter.needsAnyKeys
                effects.append(.resume(waiter.id, asksAgain ? .retry : .unavailable(retryAfter: pause)))
            }
            return finish(effects + fetchForLateWaiters(), readingFallback: true)
        }

        /// The timer of ``Effect/setTimer(_:)`` fired.
        ///
        /// - Parameter isUsed: whether the keys have been used since the last fetch.
        package mutating func timerFired(now time: MonotonicTime, isUsed: Bool = true) -> [Effect] {
            advance(to: time)
            var effects = omitted.dropExpired(now: now) ? publishAgain() : []
            if let deadline = waiters.firstDeadline, deadline <= now {
                let expired = waiters.remove { [now] in $0.deadline <= now }
                effects += expired.map { .resume($0.id, .unavailable(retryAfter: rules.firstBackoff)) }
            }
            if fetch == nil { effects += fetchForLateWaiters() }
            // If operators wait, their fetch starts within a second and replaces the planned one.
            if fetch == nil, !waiters.needRefresh, let nextFetch, nextFetch <= now {
                if isUsed {
                    effects += beginFetch(plannedMode)
                } else {
                    isRefreshOverdue = true
                    self.nextFetch = nil
                }
            }
            return finish(effects)
        }

        /// Changes how long keys are used after their lifetime, including the current ones, except for the fallback's.
        package mutating func staleIfErrorChanged(to staleIfError: Interval, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            guard staleIfError != rules.staleIfError else { return [] }
            rules.staleIfError = staleIfError
            guard let snapshot, !(rules.hasFallback && snapshot.source == .file) else { return [] }
            // Of keys that are fetched only for requests, those that were not extended stay as they are.
            guard !rules.isLazy || snapshot.usableUntil > snapshot.freshUntil else { return [] }
            return finish(publishAgain(usableUntil: snapshot.freshUntil + staleIfError))
        }

        /// A key has verified a token.
        package mutating func proved(_ keyID: String, now time: MonotonicTime) -> [Effect] {
            advance(to: time)
            guard sought.prove(keyID), let answer else { return [] }
            return finish(publishAgain() + keep(answer))
        }

        // MARK: Keys

        func makeSnapshot(
            _ fetched: FetchedKeys, fetchedAt: MonotonicTime, freshUntil: MonotonicTime, usableUntil: MonotonicTime
        ) -> KeySnapshot {
            KeySnapshot(
                version: (snapshot?.version ?? 0) + 1, fetched, omitted: omitted.keys,
                unprovenKeyIDs: sought.unprovenRequests, fetchedAt: fetchedAt, confirmedUntil: confirmedUntil,
                freshUntil: freshUntil, usableUntil: usableUntil)
        }

        /// Keys to write to disk: of those that were fetched one by one, the proven ones.
        private func keep(_ fetched: FetchedKeys) -> [Effect] {
            let lifetime = rules.lifetime(fetched.lifetime)
            guard rules.findsKeysByID else { return [.keep(fetched, omitted: omitted.keys, lifetime: lifetime)] }
            let proven = fetched.keeping { [sought] key in key.keyID.map(sought.proven.contains) ?? false }
            return proven.keys.keys.isEmpty ? [] : [.keep(proven, omitted: [], lifetime: lifetime)]
        }

        mutating func publish(_ current: KeySnapshot) -> [Effect] {
            let hasChanged = snapshot?.fingerprint != current.fingerprint
            snapshot = current
            return [.publish(current)] + (hasChanged ? [.report(.keysChanged(keyIDs: current.keyIDs))] : [])
        }

        /// Publishes the keys of the last result once more, because something about them has changed.
        ///
        /// - Parameter end: `nil`: as before.
        mutating func publishAgain(usableUntil end: MonotonicTime? = nil) -> [Effect] {
            guard let snapshot, let answer else { return [] }
            return publish(
                makeSnapshot(
                    answer, fetchedAt: snapshot.fetchedAt, freshUntil: snapshot.freshUntil,
                    usableUntil: end ?? snapshot.usableUntil))
        }

        private mutating func recordOmissions(by fetched: FetchedKeys, isStrict: Bool) {
            // Omissions are final if an operator requested that, or if the keys come from a file. Omitted keys are not
            // kept if they could not be used anyway.
            guard !isStrict, fetched.source == .network, let snapshot, snapshot.source != .file,
                snapshot.isUsable(at: now)
            else { return omitted.dropAll() }
            guard !fetched.isNotModified else { return }
            omitted.compare(fetched.keys, with: snapshot.keys, until: now + rules.graceForOmittedKeys)
        }

        // MARK: Fetches

        /// A conditional request is used only if nothing is in doubt. Servers may answer conditional requests wrongly
        /// or not at all, so none is made after a failure, or if the last complete response is older than the longest
        /// lifetime.
        var plannedMode: FetchMode {
            let isSeenWholeLately = lastWholeAnswer.map { now - $0 < rules.maximumLifetime } ?? false
            return omitted.isEmpty && consecutiveFailures == 0 && isSeenWholeLately ? .revalidate : .reload
        }

        mutating func beginFetch(_ mode: FetchMode, isStrict: Bool = false) -> [Effect] {
            fetch = Fetch(mode: mode, isStrict: isStrict)
            nextFetch = nil
            isRefreshOverdue = false
            sought.beginFetch()
            return [.startFetch(mode)]
        }

        /// Whether a request needs a key that is not in the set, rather than newer keys for those that did not fit.
        private func isUnknown(_ need: FetchReason) -> Bool { if case .key = need { true } else { false } }

        /// The outcome for a request that may not cause a fetch now.
        private var outcomeWithoutFetch: Outcome {
            guard lastFailure != nil else { return .unchanged }
            let pause = nextFetch.map { $0 - now } ?? rules.firstBackoff
            return .unavailable(retryAfter: max(min(pause, rules.tokenFetchWindow), rules.minimumBackoff))
        }

        /// The outcome for a request that has no keys at all before the next fetch.
        var outcomeUntilNextFetch: Outcome {
            .unavailable(retryAfter: max((nextFetch ?? now) - now, rules.minimumBackoff))
        }

        /// The outcome for a request whose key was not fetched, because the budget is used up. If the provider
        /// publishes no list of its keys, the key may exist.
        private var outcomeWithoutBudget: Outcome {
            guard rules.findsKeysByID else { return outcomeWithoutFetch }
            return .unavailable(retryAfter: max(unknownKeys.untilNext(now: now), rules.minimumBackoff))
        }

        /// Exponential backoff with full jitter: anything between zero and the exponential bound, with a minimum that
        /// prevents a tight loop after fast failures.
        private mutating func backoff() -> Interval {
            let exponent = min(consecutiveFailures - 1, 16)
            let bound = min(rules.firstBackoff * Double(1 << exponent), rules.maximumBackoff)
            return max(bound * Double.random(in: 0..<1, using: &random), rules.minimumBackoff)
        }

        // MARK: Waiters

        mutating func resumeWaitersForAnyKeys(_ outcome: Outcome = .retry) -> [Effect] {
            waiters.remove(where: \.needsAnyKeys).map { .resume($0.id, outcome) }
        }

        /// Starts the fetch that operators wait for, if it is allowed by now.
        private mutating func fetchForLateWaiters() -> [Effect] {
            guard waiters.needRefresh, nextRefresh.map({ $0 <= now }) ?? true else { return [] }
            waiters.fetchBegan()
            nextRefresh = now + rules.refreshInterval
            let isStrict = waiters.all.contains { $0.need == .refresh(dropsOmitted: true) }
            return beginFetch(.reload, isStrict: isStrict)
        }

        // MARK: Time

        mutating func advance(to time: MonotonicTime) { now = max(now, time) }

        /// Ends every event: reports a change of state, and sets the timer for the next deadline.
        ///
        /// - Parameter readingFallback: whether to read the fallback if it is needed and not being read. It is always read when the last
        ///   keys have just become unusable.
        mutating func finish(_ effects: [Effect], readingFallback: Bool = false) -> [Effect] {
            var effects = effects
            let state = KeyState(snapshot, at: now)
            // Unused keys that expire are no outage.
            let hasChanged = state != reportedState && !(rules.isLazy && state == .unavailable && lastFailure == nil)
            if hasChanged {
                reportedState = state
                effects.append(.report(.stateChanged(state)))
            }
            if needsFallback, !isReadingFallback, readingFallback || (hasChanged && state == .unavailable) {
                isReadingFallback = true
                effects.append(.readFallback)
            }
            if let due = nextDue(state) { effects.append(.setTimer(due)) }
            return effects
        }

        private func nextDue(_ state: KeyState) -> MonotonicTime? {
            let nextFetch = fetch != nil ? nil : waiters.needRefresh ? nextRefresh : nextFetch
            var times = [waiters.firstDeadline, nextFetch, omitted.firstEnd].compactMap(\.self)
            // One millisecond later they have expired.
            switch state {
            case .ready: if let snapshot { times.append(snapshot.freshUntil + Interval(milliseconds: 1)) }
            case .stale: if let snapshot { times.append(snapshot.usableUntil + Interval(milliseconds: 1)) }
            case .unavailable: break
            }
            return times.min()
        }
    }
}
