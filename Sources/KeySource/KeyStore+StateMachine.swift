package import Clocks
private import JOSE
private import JSON

extension KeyStore {
    /// What a key store does when: pure, so that every rule can be tested without a network or a clock.
    ///
    /// Each event comes with the time and returns the effects that the store then carries out, in order.
    package struct StateMachine {
        private let rules: KeyRules
        private var random: any RandomNumberGenerator & Sendable
        package private(set) var snapshot: KeySnapshot?
        package private(set) var lastFailure: FetchFailure?
        package private(set) var nextFetch: MonotonicTime?
        private var isFetching = false
        private var consecutiveFailures = 0
        private var waiters: [Waiter] = []
        /// When the fetches were made that an unknown `kid` caused.
        private var spentFetches: [MonotonicTime] = []
        /// The `kid`s that a fetch has just not found.
        private var missingKeyIDs: [ExactString: MonotonicTime] = [:]

        package init(rules: KeyRules, random: any RandomNumberGenerator & Sendable) {
            self.rules = rules
            self.random = random
        }

        package typealias WaiterID = Int

        /// Why a request needs what the snapshot does not hold.
        package enum Need: Sendable, Equatable {
            /// There are no usable keys at all. A token that could not pass with them does not cause a fetch, but waits for
            /// the one that is under way.
            case anyKeys(mayFetch: Bool)
            /// No key of the set carries the token's `kid`.
            case key(String)
            /// Nothing in the token says which key it needs, or it needs an algorithm that was not listed: only newer keys
            /// can tell.
            case newerKeys
            /// An operator wants a fetch now.
            case refresh
        }

        /// What became of a request's need.
        package enum Outcome: Sendable, Equatable {
            /// A fetch that began after the request asked has succeeded: what is not there now is nowhere.
            case refreshed
            /// The keys have changed since the request looked, by a fetch that had begun before it asked: look again, and
            /// ask again.
            case changed
            /// Nothing better can be had now; ask again after this interval at the earliest.
            case unavailable(retryAfter: Interval)
        }

        package enum Effect: Sendable {
            case startFetch
            case publish(KeySnapshot)
            /// Keep the keys on disk, if there is a place for them.
            case keep(FetchedKeys, lifetime: Interval)
            case resume(WaiterID, Outcome)
            case report(KeyEvent)
            /// Call ``timerFired(now:)`` at this time instead of any earlier one asked for.
            case setTimer(MonotonicTime)
        }

        private struct Waiter {
            let id: WaiterID
            let need: Need
            let deadline: MonotonicTime
            /// Whether the fetch under way had begun before this waiter came, and so may miss what it needs.
            let cameLate: Bool

            var needsAnyKeys: Bool { if case .anyKeys = need { true } else { false } }

            /// Whether only a fetch that begins from now on will do: an operator has just changed something.
            var needsAnotherFetch: Bool { cameLate && need == .refresh }
        }

        /// Keys were found that an earlier process had fetched, `age` ago.
        package mutating func restored(_ fetched: FetchedKeys, age: Interval, now: MonotonicTime) -> [Effect] {
            // What has been fetched meanwhile is newer.
            guard snapshot == nil else { return [] }
            let fetchedAt = now - age
            let current = makeSnapshot(fetched, fetchedAt: fetchedAt)
            guard current.isUsable(at: now) else { return [] }
            snapshot = current
            let resumed = waiters.filter(\.needsAnyKeys)
            waiters.removeAll(where: \.needsAnyKeys)
            return [.publish(current), .report(.keysChanged(keyIDs: current.keyIDs))]
                + resumed.map { .resume($0.id, .changed) } + timer()
        }

        /// The store begins its life.
        package mutating func start(now: MonotonicTime) -> [Effect] {
            isFetching ? [] : beginFetch()
        }

        /// A request can't be answered from the snapshot.
        ///
        /// - Parameter version: the snapshot's that the request was judged by; 0 where it had none.
        package mutating func wait(
            for need: Need, judgedBy version: Int, id: WaiterID, until deadline: MonotonicTime, now: MonotonicTime
        ) -> [Effect] {
            if need != .refresh, let snapshot, snapshot.version > version, snapshot.isUsable(at: now) {
                return [.resume(id, .changed)]
            }
            switch need {
            case .anyKeys(let mayFetch):
                // After a failure nobody waits for the next attempt, which backoff has put off.
                let isPutOff = consecutiveFailures > 0 && (nextFetch ?? now) > now
                if !isFetching, isPutOff || !mayFetch {
                    return [.resume(id, .unavailable(retryAfter: max((nextFetch ?? now) - now, rules.minimumBackoff)))]
                }
            case .key(let keyID):
                forgetOldEntries(now: now)
                if missingKeyIDs[ExactString(keyID)] != nil {
                    return [.resume(id, .unavailable(retryAfter: rules.unknownKeyWindow))]
                }
                if !isFetching, !spendUnknownKeyFetch(now: now) { return refuseFetch(to: id) }
            case .newerKeys:
                if !isFetching, !spendUnknownKeyFetch(now: now) { return refuseFetch(to: id) }
            case .refresh: break
            }
            waiters.append(Waiter(id: id, need: need, deadline: deadline, cameLate: isFetching))
            return (isFetching ? [] : beginFetch()) + timer()
        }

        /// The fetch under way ended well.
        package mutating func fetchSucceeded(_ fetched: FetchedKeys, now: MonotonicTime) -> [Effect] {
            isFetching = false
            let hasRecovered = consecutiveFailures > 0
            consecutiveFailures = 0
            lastFailure = nil
            let previous = snapshot
            let current = makeSnapshot(fetched, fetchedAt: now)
            let lifetime = current.freshUntil - now
            snapshot = current
            // Ahead of expiry, and not in step with the other instances that fetched at the same moment.
            nextFetch = now + lifetime * Double.random(in: 0.75..<0.9, using: &random)

            var effects: [Effect] = [.publish(current), .keep(fetched, lifetime: lifetime), .report(.fetched)]
            if hasRecovered { effects.append(.report(.recovered)) }
            if previous?.keyIDs != current.keyIDs { effects.append(.report(.keysChanged(keyIDs: current.keyIDs))) }
            for waiter in waiters where !waiter.needsAnotherFetch {
                if !waiter.cameLate, case .key(let keyID) = waiter.need, !current.hasKey(keyID) {
                    remember(missing: keyID, now: now)
                }
                effects.append(.resume(waiter.id, waiter.cameLate ? .changed : .refreshed))
            }
            return effects + fetchForLateWaiters() + timer()
        }

        /// The fetch under way failed; the keys we have stay as they are.
        package mutating func fetchFailed(_ failure: FetchFailure, now: MonotonicTime) -> [Effect] {
            isFetching = false
            lastFailure = failure
            consecutiveFailures += 1
            let pause = backoff()
            nextFetch = now + pause
            var effects: [Effect] = [.report(.fetchFailed(failure, isFirst: consecutiveFailures == 1))]
            for waiter in waiters where !waiter.needsAnotherFetch {
                effects.append(.resume(waiter.id, .unavailable(retryAfter: pause)))
            }
            return effects + fetchForLateWaiters() + timer()
        }

        /// The time asked for by ``Effect/setTimer(_:)`` has come.
        package mutating func timerFired(now: MonotonicTime) -> [Effect] {
            var effects: [Effect] = []
            let expired = waiters.filter { $0.deadline <= now }
            waiters.removeAll { $0.deadline <= now }
            effects += expired.map { .resume($0.id, .unavailable(retryAfter: rules.firstBackoff)) }
            if !isFetching, let nextFetch, nextFetch <= now { effects += beginFetch() }
            return effects + timer()
        }

        private func refuseFetch(to id: WaiterID) -> [Effect] {
            [.report(.unknownKeyFetchRefused), .resume(id, .unavailable(retryAfter: rules.unknownKeyWindow))]
        }

        /// Leaves only the waiters whom the fetch that has just ended did not serve, and begins another for them.
        private mutating func fetchForLateWaiters() -> [Effect] {
            waiters = waiters.filter(\.needsAnotherFetch).map { waiter in
                Waiter(id: waiter.id, need: waiter.need, deadline: waiter.deadline, cameLate: false)
            }
            return waiters.isEmpty ? [] : beginFetch()
        }

        private func makeSnapshot(_ fetched: FetchedKeys, fetchedAt: MonotonicTime) -> KeySnapshot {
            let said = fetched.lifetime ?? rules.minimumLifetime
            let lifetime = min(max(said, rules.minimumLifetime), rules.maximumLifetime)
            return KeySnapshot(
                version: (snapshot?.version ?? 0) + 1, keys: fetched.keys, algorithms: fetched.algorithms,
                source: fetched.source, fetchedAt: fetchedAt, fetchedAtUnixSeconds: fetched.fetchedAtUnixSeconds,
                freshUntil: fetchedAt + lifetime, usableUntil: fetchedAt + lifetime + rules.staleFor)
        }

        private mutating func beginFetch() -> [Effect] {
            isFetching = true
            nextFetch = nil
            return [.startFetch]
        }

        private func timer() -> [Effect] {
            let times = waiters.map(\.deadline) + [nextFetch].compactMap(\.self)
            return times.min().map { [.setTimer($0)] } ?? []
        }

        /// Exponential with full jitter: anything between nothing and the exponential bound, but for a floor that keeps
        /// a fast failure from becoming a tight loop.
        private mutating func backoff() -> Interval {
            let exponent = min(consecutiveFailures - 1, 16)
            let bound = min(rules.firstBackoff * Double(1 << exponent), rules.maximumBackoff)
            return max(bound * Double.random(in: 0..<1, using: &random), rules.minimumBackoff)
        }

        private mutating func spendUnknownKeyFetch(now: MonotonicTime) -> Bool {
            let window = rules.unknownKeyWindow
            spentFetches.removeAll { now - $0 >= window }
            guard spentFetches.count < rules.unknownKeyFetches else { return false }
            spentFetches.append(now)
            return true
        }

        private mutating func remember(missing keyID: String, now: MonotonicTime) {
            forgetOldEntries(now: now)
            if missingKeyIDs.count < rules.rememberedMissingKeys {
                missingKeyIDs[ExactString(keyID)] = now
            }
        }

        private mutating func forgetOldEntries(now: MonotonicTime) {
            guard missingKeyIDs.contains(where: { now - $0.value >= rules.missingKeyMemory }) else { return }
            missingKeyIDs = missingKeyIDs.filter { now - $0.value < rules.missingKeyMemory }
        }
    }
}
