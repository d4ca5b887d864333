package import HTTP
private import JOSE
package import NIOCore
package import NIOPosix

/// Owns one provider's keys: fetches them, keeps them fresh, and delivers every new set to its subscribers.
///
/// A thin driver of ``StateMachine``. Its state belongs to one event loop, which serves no requests.
package final class KeyStore: Sendable {
    package let loop: any EventLoop
    private let fetcher: any KeyFetching
    private let fallback: (any KeyFetching)?
    private let archive: KeyArchive?
    private let threads: NIOThreadPool
    private let readers: NIOThreadPool
    private let slots: FetchSlots
    private let source: FetchQueue.Source
    private let lastUse: (@Sendable () -> MonotonicTime)?
    private let state: NIOLoopBoundBox<State>
    private let onEvent: @Sendable (KeyEvent) -> Void

    /// Receives a snapshot; the future completes when all event loops have it.
    package typealias Subscriber = @Sendable (KeySnapshot) -> EventLoopFuture<Void>

    private struct State {
        var machine: StateMachine
        var waiters: [StateMachine.WaiterID: EventLoopPromise<StateMachine.Outcome>] = [:]
        var nextWaiterID = 0
        var timer: Scheduled<Void>?
        /// Of the fetch that waits for its turn or is in progress.
        var ticket: FetchQueue.Ticket?
        var fetch: Task<Void, Never>?
        /// When the last fetch was needed.
        var soughtAt: MonotonicTime?
        var isRetired = false
        var isStopped = false
        var subscribers: [Subscriber] = []
        var lastFailureAtUnixSeconds: Int64?
    }

    /// The longest timer. Timers don't count the time for which the machine is suspended.
    private static let longestTimer = TimeAmount.seconds(60)
    private static let longestLoad = TimeAmount.seconds(2)

    /// - Parameters:
    ///   - fallback: has the keys to use while `fetcher` has not delivered any.
    ///   - archive: keeps the last good keys across restarts; `nil` for none.
    ///   - threads: for the archive's blocking calls.
    ///   - readers: for reading the archive, so that reads don't queue behind writes; `nil`: `threads`.
    ///   - slots: for fetches, shared with other stores of the loop; `nil`: fetches begin at once.
    ///   - source: whose slots its fetches take.
    ///   - lastUse: when the keys were last used, for lazy rules; called on the store's loop. `nil`: they always are.
    ///   - loop: owns the store's state; it must not serve requests.
    ///   - onEvent: called on that loop.
    package init(
        rules: KeyRules, fetcher: any KeyFetching, fallback: (any KeyFetching)? = nil, archive: KeyArchive?,
        threads: NIOThreadPool, readers: NIOThreadPool? = nil, slots: FetchSlots? = nil,
        source: FetchQueue.Source = .singleIssuers,
        lastUse: (@Sendable () -> MonotonicTime)? = nil, on loop: any EventLoop,
        onEvent: @escaping @Sendable (KeyEvent) -> Void
    ) {
        var rules = rules
        rules.hasFallback = fallback != nil
        self.loop = loop
        self.fetcher = fetcher
        self.fallback = fallback
        self.archive = archive
        self.threads = threads
        self.readers = readers ?? threads
        self.slots = slots ?? FetchSlots(limit: 1, on: loop)
        self.source = source
        self.lastUse = lastUse
        self.onEvent = onEvent
        state = NIOLoopBoundBox.makeBoxSendingValue(
            State(machine: StateMachine(rules: rules, random: SystemRandomNumberGenerator())), eventLoop: loop)
    }

    /// Calls `deliver` with every snapshot from now on, on the store's loop; with the current one, if any, at once.
    package func subscribe(_ deliver: @escaping Subscriber) -> EventLoopFuture<Void> {
        loop.flatSubmit {
            self.state.value.subscribers.append(deliver)
            return self.state.value.machine.snapshot.map(deliver) ?? self.loop.makeSucceededVoidFuture()
        }
    }

    /// Restores the keys of an earlier process, then starts to fetch.
    ///
    /// - Returns: completes when restored keys, if any, have been delivered to the subscribers and the fetch has
    ///   started.
    package func start() -> EventLoopFuture<Void> {
        loadArchive().map { self.startNow() }
    }

    /// Restores the keys of an earlier process, if any.
    ///
    /// - Returns: completes when they have been delivered to the subscribers.
    package func loadArchive() -> EventLoopFuture<Void> {
        guard let archive else { return loop.submit {} }
        let begun = SystemClocks.monotonic()
        let loaded = readers.runIfActive(eventLoop: loop) {
            Result { () throws(KeyArchive.Refusal) in try archive.load(nowUnixSeconds: SystemClocks.unixSeconds()) }
        }
        let started = loop.makePromise(of: Void.self)
        loaded.map { self.restore($0, soughtSince: begun) }.whenComplete { _ in started.succeed() }
        // A hanging disk must not keep the service from starting.
        let timer = loop.scheduleTask(in: Self.longestLoad) { started.succeed() }
        return started.futureResult.map { timer.cancel() }
    }

    private func restore(
        _ found: Result<KeyArchive.Restored?, KeyArchive.Refusal>, soughtSince begun: MonotonicTime
    ) {
        switch found {
        case .success(let restored?):
            // Keys age while a slow disk is read.
            run { machine, now in
                machine.restored(
                    restored.keys, omitted: restored.omitted, age: restored.age + (now - begun), now: now)
            }
        case .success(nil): break
        case .failure(let refusal): onEvent(.archiveRefused(reason: refusal.reason))
        }
    }

    private func keep(_ keys: FetchedKeys, omitted: [JWK], lifetime: Interval) {
        guard let archive else { return }
        threads.submit { state in
            guard case .active = state, !archive.save(keys, omitted: omitted, lifetime: lifetime) else { return }
            self.loop.execute { self.onEvent(.archiveFailed) }
        }
    }

    /// Waits until the needed keys arrive, or can't. Subscribers receive the new snapshot before this returns.
    ///
    /// - Parameter version: the version of the snapshot that was not enough; 0 if there was none.
    package func wait(
        for need: StateMachine.FetchReason, judgedBy version: Int, until deadline: MonotonicTime
    ) -> EventLoopFuture<StateMachine.Outcome> {
        let promise = loop.makePromise(of: StateMachine.Outcome.self)
        loop.execute {
            guard !self.state.value.isStopped else {
                promise.succeed(.unavailable(retryAfter: .seconds(1)))
                return
            }
            let id = self.state.value.nextWaiterID
            self.state.value.nextWaiterID += 1
            self.state.value.waiters[id] = promise
            self.run { $0.wait(for: need, judgedBy: version, id: id, until: deadline, now: $1) }
        }
        return promise.futureResult
    }

    /// The state, for operators.
    package func status() -> EventLoopFuture<KeyStatus> { loop.submit { self.currentStatus } }

    /// The same, called on the store's loop.
    var currentStatus: KeyStatus {
        let (machine, now) = (state.value.machine, SystemClocks.monotonic())
        return KeyStatus(
            snapshot: machine.snapshot, lastFailure: machine.lastFailure,
            lastFailureAtUnixSeconds: state.value.lastFailureAtUnixSeconds,
            nextFetchIn: machine.nextFetch.map { $0 - now }, now: now)
    }

    /// Starts to fetch. Called on the store's loop.
    package func startNow() { run { $0.start(now: $1) } }

    /// Passes an event and the time to the state machine, and performs its effects; does nothing after a stop.
    private func run(_ event: (inout StateMachine, _ now: MonotonicTime) -> [StateMachine.Effect]) {
        guard !state.value.isStopped else { return }
        let effects = event(&state.value.machine, SystemClocks.monotonic())
        // Waiters resume only when every subscriber has the new keys. Otherwise, a key found by one event loop could be
        // unknown to the next.
        var delivered: EventLoopFuture<Void>?
        for effect in effects {
            switch effect {
            case .startFetch(let mode): startFetch(mode)
            case .readFallback: readFallback()
            case .publish(let snapshot):
                delivered = .andAllComplete(state.value.subscribers.map { $0(snapshot) }, on: loop)
            case .resume(let id, let outcome):
                guard let promise = state.value.waiters.removeValue(forKey: id) else { break }
                if let delivered {
                    delivered.whenComplete { _ in promise.succeed(outcome) }
                } else {
                    promise.succeed(outcome)
                }
            case .keep(let keys, let omitted, let lifetime): keep(keys, omitted: omitted, lifetime: lifetime)
            case .report(let event): onEvent(event)
            case .setTimer(let time): setTimer(time)
            }
        }
        stopIfUnneeded()
    }

    private func startFetch(_ mode: FetchMode) {
        let keyIDs = state.value.machine.soughtKeyIDs
        state.value.soughtAt = SystemClocks.monotonic()
        state.value.fetch = nil
        state.value.ticket = slots.enter(state.value.machine.fetchKind, of: source) { ticket in
            // Its steps stay on the store's loop, so that fetching takes one core at most from those who verify.
            self.state.value.fetch = Task(executorPreference: LoopExecutor(self.loop)) {
                let result: Result<FetchedKeys, FetchFailure>
                do throws(FetchFailure) {
                    result = .success(try await self.fetcher.fetch(mode, keyIDs: keyIDs))
                } catch {
                    result = .failure(error)
                }
                self.loop.execute { [result] in
                    self.slots.leave(ticket)
                    self.fetchEnded(result)
                }
            }
        }
    }

    private func fetchEnded(_ result: Result<FetchedKeys, FetchFailure>) {
        // A task that is kept keeps the memory of its calls, ten kilobytes.
        state.value.fetch = nil
        state.value.ticket = nil
        switch result {
        case .success(let fetched): run { $0.fetchSucceeded(fetched, now: $1) }
        case .failure(let failure):
            state.value.lastFailureAtUnixSeconds = SystemClocks.unixSeconds()
            run { $0.fetchFailed(failure, now: $1) }
        }
    }

    private func readFallback() {
        guard let fallback else { return }
        Task(executorPreference: LoopExecutor(loop)) { [self] in
            do throws(FetchFailure) {
                let keys = try await fallback.fetch(.reload)
                loop.execute { self.run { $0.fallbackSucceeded(keys, now: $1) } }
            } catch {
                loop.execute { self.run { $0.fallbackFailed(error, now: $1) } }
            }
        }
    }

    private func setTimer(_ time: MonotonicTime) {
        state.value.timer?.cancel()
        let delay = TimeAmount.milliseconds(max(time.milliseconds - SystemClocks.monotonic().milliseconds, 0))
        state.value.timer = loop.scheduleTask(in: min(delay, Self.longestTimer)) {
            let isUsed = self.isUsed
            self.run { $0.timerFired(now: $1, isUsed: isUsed) }
            self.abandonUnneededFetch()
        }
    }

    /// Whether the keys have been used since a fetch was last needed.
    private var isUsed: Bool {
        guard let lastUse, let soughtAt = state.value.soughtAt else { return true }
        return lastUse() >= soughtAt
    }

    /// Gives up a first fetch that still waits for its turn, if no request waits for it any more.
    private func abandonUnneededFetch() {
        guard lastUse != nil, !state.value.isStopped, state.value.machine.snapshot == nil, state.value.waiters.isEmpty,
            state.value.fetch == nil, let ticket = state.value.ticket
        else { return }
        slots.leave(ticket)
        state.value.ticket = nil
        run { $0.fetchAbandoned(now: $1) }
    }

    /// Makes up for a refresh that was left out while nobody used the keys. Called on the store's loop.
    func refreshIfUsed() {
        if isUsed { run { $0.used(now: $1) } }
    }

    /// Whether it has no keys, and nothing that could bring it any. Called on the store's loop.
    var isVain: Bool {
        state.value.machine.snapshot == nil && state.value.waiters.isEmpty && state.value.ticket == nil
    }

    /// The last failure, its place among failures in a row, and when the next attempt may be made; `nil` if the last
    /// fetch succeeded. Called on the store's loop.
    var outage: (failure: FetchFailure, count: Int, until: MonotonicTime)? {
        let machine = state.value.machine
        guard let failure = machine.lastFailure else { return nil }
        return (failure, machine.consecutiveFailures, machine.nextFetch ?? SystemClocks.monotonic())
    }

    /// The keys in use; `nil` if there are none. Called on the store's loop.
    var snapshot: KeySnapshot? { state.value.machine.snapshot }

    /// Learns that a key has verified a token; see ``KeySnapshot/isUnproven(_:)``.
    package func prove(_ keyID: String) {
        loop.execute { self.run { $0.proved(keyID, now: $1) } }
    }

    /// Changes how long keys are used after their lifetime.
    package func change(staleIfError: Interval) {
        loop.execute { self.run { $0.staleIfErrorChanged(to: staleIfError, now: $1) } }
    }

    /// Stops as soon as nobody waits; current waiters are still served.
    package func retire() {
        loop.execute {
            self.state.value.isRetired = true
            self.stopIfUnneeded()
        }
    }

    private func stopIfUnneeded() {
        if state.value.isRetired, state.value.waiters.isEmpty { stopNow() }
    }

    /// Cancels the fetch in progress, schedules no other, and resumes all waiters.
    package func stop() {
        loop.execute { self.stopNow() }
    }

    private func stopNow() {
        state.value.isStopped = true
        state.value.timer?.cancel()
        state.value.fetch?.cancel()
        state.value.fetch = nil
        if let ticket = state.value.ticket { slots.leave(ticket) }
        state.value.subscribers = []
        for promise in state.value.waiters.values { promise.succeed(.unavailable(retryAfter: .seconds(1))) }
        state.value.waiters = [:]
    }
}

/// The state of a key store at one time.
package struct KeyStatus: Sendable {
    package let snapshot: KeySnapshot?
    /// Why the last fetch failed; `nil` if it succeeded.
    package let lastFailure: FetchFailure?
    package let lastFailureAtUnixSeconds: Int64?
    /// The time until the next planned fetch; `nil` while one is in progress.
    package let nextFetchIn: Interval?
    package let now: MonotonicTime
}
