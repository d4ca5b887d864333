internal import Bytes
package import HTTP
package import NIOCore

/// Owns the keys of one entry's many issuers: a key store for each that is in use, created when a request first needs
/// it.
///
/// A thin driver of ``IssuerRanking`` and ``IssuerFailures``. Its state belongs to one event loop, which serves no
/// requests. An issuer's snapshots go only to the event loops that asked for it.
package final class IssuerPool: Sendable {
    package let loop: any EventLoop
    private let slots: FetchSlots
    private let source: FetchQueue.Source
    private let makeStore: StoreFactory
    private let onEvent: @Sendable (KeyEvent, _ issuer: String) -> Void
    private let state: NIOLoopBoundBox<State>

    /// The pool's limits.
    package struct Rules: Sendable, Equatable {
        /// The most issuers that keep their keys.
        package var maximumIssuers: Int
        /// After how long without use an issuer loses its keys.
        package var idleFor: Interval
        /// How long expired keys are used while an issuer can't be reached.
        package var staleIfError: Interval

        package init(maximumIssuers: Int, idleFor: Interval, staleIfError: Interval) {
            self.maximumIssuers = maximumIssuers
            self.idleFor = idleFor
            self.staleIfError = staleIfError
        }
    }

    /// What the store of one issuer needs.
    package struct StoreParts: Sendable {
        package let issuer: String
        package let rules: KeyRules
        package let source: FetchQueue.Source
        package let lastUse: @Sendable () -> MonotonicTime
        package let onEvent: @Sendable (KeyEvent) -> Void
    }

    /// Creates the key store of an issuer, with lazy rules.
    package typealias StoreFactory = @Sendable (StoreParts) -> KeyStore

    /// An event loop that verifies: receives an issuer's keys and where to note their use; `nil` when they are dropped.
    /// The future completes when the loop has them.
    package typealias Reader = @Sendable (_ issuer: String, Delivery?) -> EventLoopFuture<Void>
    package typealias ReaderID = Int

    package struct Delivery: Sendable {
        package let snapshot: KeySnapshot
        package let use: IssuerUse
    }

    private struct State {
        var rules: Rules
        var readers: [Reader] = []
        var issuers: [ExactString: PooledIssuer] = [:]
        /// The number of issuers without keys.
        var unsettled = 0
        /// Those of them that are being looked for on the disk, and whose fetches may enter the queue next.
        var loading = 0
        var failures = IssuerFailures()
        var isEvicting = false
        var isStopped = false
        var sweep: RepeatedTask?
    }

    private static let evictionDelay = TimeAmount.milliseconds(250)
    /// How long callers should wait if there are too many fetches, or too many failures to remember.
    private static let pause = Interval.seconds(1)

    /// - Parameters:
    ///   - slots: for fetches, shared with other stores of the loop.
    ///   - source: whose slots its fetches take.
    ///   - loop: owns the state; it must not serve requests.
    ///   - onEvent: called on that loop.
    package init(
        _ rules: Rules, slots: FetchSlots, source: FetchQueue.Source, on loop: any EventLoop,
        makeStore: @escaping StoreFactory, onEvent: @escaping @Sendable (KeyEvent, _ issuer: String) -> Void
    ) {
        self.loop = loop
        self.slots = slots
        self.source = source
        self.makeStore = makeStore
        self.onEvent = onEvent
        state = NIOLoopBoundBox.makeBoxSendingValue(State(rules: rules), eventLoop: loop)
    }

    /// Adds an event loop that verifies.
    package func add(_ reader: @escaping Reader) -> EventLoopFuture<ReaderID> {
        loop.submit {
            self.state.value.readers.append(reader)
            return self.state.value.readers.count - 1
        }
    }

    /// Waits until the needed keys of an issuer arrive, or can't. The reader receives them before this returns.
    ///
    /// - Parameter version: the version of the snapshot that was not enough; 0 if there was none.
    package func wait(
        for need: KeyStore.StateMachine.FetchReason, of issuer: String, judgedBy version: Int,
        until deadline: MonotonicTime, by reader: ReaderID?
    ) -> EventLoopFuture<KeyStore.StateMachine.Outcome> {
        loop.flatSubmit {
            let name = ExactString(issuer)
            let pooled: PooledIssuer
            switch self.find(name, for: need) {
            case .success(let found): pooled = found
            case .failure(let refusal): return self.loop.makeSucceededFuture(.unavailable(retryAfter: refusal.pause))
            }
            pooled.state.value.waiting += 1
            return pooled.loaded.flatMap {
                self.subscribe(reader, to: pooled)
            }.flatMap {
                let outcome = pooled.store.wait(for: need, judgedBy: version, until: deadline)
                // Behind the fetch, which then is in the queue.
                self.loop.execute { self.endLoading(pooled) }
                return outcome
            }.map { outcome in
                pooled.state.value.waiting -= 1
                // The store may still be about to give up the fetch that this request waited for.
                self.loop.execute { self.dropIfVain(pooled) }
                return outcome
            }
        }
    }

    private struct Refusal: Error { let pause: Interval }

    /// The issuer, which is created if it may be.
    private func find(
        _ name: ExactString, for need: KeyStore.StateMachine.FetchReason
    ) -> Result<PooledIssuer, Refusal> {
        let now = SystemClocks.monotonic()
        guard !state.value.isStopped else { return .failure(Refusal(pause: Self.pause)) }
        if let known = state.value.issuers[name] { return .success(known) }
        let failed = state.value.failures[name]
        if let failed, failed.until > now, !need.isRefresh { return .failure(Refusal(pause: failed.until - now)) }
        guard !slots.isFull(source, besides: state.value.loading),
            failed != nil || state.value.failures.hasRoom(for: state.value.unsettled + 1, now: now)
        else {
            return .failure(Refusal(pause: Self.pause))
        }
        let created = create(name, priorFailures: failed?.count ?? 0, now: now)
        startSweeping()
        return .success(created)
    }

    private func create(_ name: ExactString, priorFailures: Int, now: MonotonicTime) -> PooledIssuer {
        let uses = IssuerUses(arrivedAt: now, on: loop)
        var rules = KeyRules()
        rules.isLazy = true
        rules.staleIfError = state.value.rules.staleIfError
        rules.priorFailures = priorFailures
        let store = makeStore(
            StoreParts(
                issuer: name.string, rules: rules, source: source, lastUse: { uses.lastUse },
                onEvent: { self.record($0, of: name) }))
        // The disk comes first. Its keys are refreshed beside the requests that use them.
        let loaded = store.loadArchive().flatMap { store.subscribe { self.publish($0, of: name) } }.map {
            if store.snapshot != nil { store.startNow() }
        }
        let created = PooledIssuer(name, store, uses, loaded: loaded)
        state.value.issuers[name] = created
        state.value.unsettled += 1
        state.value.loading += 1
        return created
    }

    private func endLoading(_ pooled: PooledIssuer) {
        guard pooled.state.value.isLoading else { return }
        pooled.state.value.isLoading = false
        state.value.loading -= 1
    }

    // MARK: Delivery

    /// Delivers the issuer's keys to an event loop from now on; those that are there already, before this completes.
    private func subscribe(_ reader: ReaderID?, to pooled: PooledIssuer) -> EventLoopFuture<Void> {
        guard let reader, pooled.uses.add(reader), let snapshot = pooled.store.snapshot else {
            return loop.makeSucceededVoidFuture()
        }
        return deliver(snapshot, of: pooled, to: reader)
    }

    private func deliver(
        _ snapshot: KeySnapshot, of pooled: PooledIssuer, to reader: ReaderID
    ) -> EventLoopFuture<Void> {
        guard let use = pooled.uses[reader], state.value.readers.indices.contains(reader) else {
            return loop.makeSucceededVoidFuture()
        }
        return state.value.readers[reader](pooled.name.string, Delivery(snapshot: snapshot, use: use))
    }

    private func publish(_ snapshot: KeySnapshot, of name: ExactString) -> EventLoopFuture<Void> {
        guard let pooled = state.value.issuers[name] else { return loop.makeSucceededVoidFuture() }
        if !pooled.hasKeys {
            pooled.state.value.hasKeys = true
            state.value.unsettled -= 1
            pooled.uses.arrivedAt = SystemClocks.monotonic()
            evictSoon()
        }
        return .andAllComplete(pooled.uses.readers.map { deliver(snapshot, of: pooled, to: $0) }, on: loop)
    }

    // MARK: Failures

    private func record(_ event: KeyEvent, of name: ExactString) {
        onEvent(event, name.string)
        switch event {
        case .fetched: state.value.failures.remove(name)
        case .fetchFailed:
            guard let pooled = state.value.issuers[name], !pooled.hasKeys, let outage = pooled.store.outage else {
                return
            }
            let now = SystemClocks.monotonic()
            state.value.failures.insert(
                IssuerFailures.Entry(
                    failure: outage.failure, count: outage.count, atUnixSeconds: SystemClocks.unixSeconds(),
                    until: outage.until), of: name, now: now)
            drop(pooled)
        default: break
        }
    }

    /// Forgets an issuer for which nothing waits any more and that has no keys.
    private func dropIfVain(_ pooled: PooledIssuer) {
        guard pooled.state.value.waiting == 0, !pooled.hasKeys, pooled.store.isVain else { return }
        drop(pooled)
    }

    private func drop(_ pooled: PooledIssuer) {
        guard state.value.issuers[pooled.name] === pooled else { return }
        state.value.issuers[pooled.name] = nil
        if !pooled.hasKeys { state.value.unsettled -= 1 }
        pooled.store.retire()
        for reader in pooled.uses.readers where state.value.readers.indices.contains(reader) {
            _ = state.value.readers[reader](pooled.name.string, nil)
        }
    }

    // MARK: Eviction

    private func evictSoon() {
        let keyed = state.value.issuers.count - state.value.unsettled
        guard !state.value.isEvicting, keyed > state.value.rules.maximumIssuers, !state.value.isStopped else { return }
        state.value.isEvicting = true
        loop.scheduleTask(in: Self.evictionDelay) {
            self.state.value.isEvicting = false
            self.evict()
        }
    }

    private func evict() {
        let all = state.value.issuers.values.filter(\.hasKeys)
        let surplus = ranking.surplus(among: all.map(\.standing), now: SystemClocks.monotonic())
        for index in surplus { drop(all[index]) }
        if all.count - surplus.count > state.value.rules.maximumIssuers { evictSoon() }
    }

    private var ranking: IssuerRanking {
        IssuerRanking(maximum: state.value.rules.maximumIssuers, idleFor: state.value.rules.idleFor)
    }

    /// Looks for idle issuers, and for refreshes that were left out, from time to time.
    private func startSweeping() {
        guard state.value.sweep == nil else { return }
        let pause = min(max(state.value.rules.idleFor.milliseconds / 4, 500), 30_000)
        state.value.sweep = loop.scheduleRepeatedTask(
            initialDelay: .milliseconds(pause), delay: .milliseconds(pause)
        ) { _ in self.sweep() }
    }

    private func sweep() {
        let all = state.value.issuers.values.filter(\.hasKeys)
        for index in ranking.idle(among: all.map(\.standing), now: SystemClocks.monotonic()) { drop(all[index]) }
        for pooled in all { pooled.store.refreshIfUsed() }
    }

    // MARK: Changes

    /// Changes the limits.
    package func change(_ rules: Rules) {
        loop.execute {
            guard rules != self.state.value.rules else { return }
            self.state.value.rules = rules
            self.state.value.sweep?.cancel()
            self.state.value.sweep = nil
            self.startSweeping()
            for pooled in self.state.value.issuers.values { pooled.store.change(staleIfError: rules.staleIfError) }
            self.evictSoon()
        }
    }

    /// Drops the issuers that the entry no longer has.
    package func keep(where isKept: @escaping @Sendable (String) -> Bool) {
        loop.execute {
            for pooled in self.state.value.issuers.values where !isKept(pooled.name.string) { self.drop(pooled) }
            self.state.value.failures.keep(where: isKept)
        }
    }

    /// Stops as soon as nobody waits; current waiters are still served.
    package func retire() {
        loop.execute {
            for pooled in self.state.value.issuers.values { pooled.store.retire() }
            self.end()
        }
    }

    /// Cancels all fetches, and resumes all waiters.
    package func stop() {
        loop.execute {
            for pooled in self.state.value.issuers.values { pooled.store.stop() }
            self.end()
        }
    }

    private func end() {
        state.value.isStopped = true
        state.value.sweep?.cancel()
        state.value.issuers = [:]
        state.value.unsettled = 0
        state.value.readers = []
    }

    // MARK: State

    /// The state of one issuer's keys.
    package func status(of issuer: String) -> EventLoopFuture<KeyStatus> {
        loop.submit {
            let name = ExactString(issuer)
            if let pooled = self.state.value.issuers[name] { return pooled.store.currentStatus }
            return KeyStatus(ofFailure: self.state.value.failures[name])
        }
    }

    /// The number of issuers by the state of their keys, and those that fail.
    package func summary() -> EventLoopFuture<IssuerPoolSummary> {
        loop.submit {
            let pooled = self.state.value.issuers.values.map { ($0.name.string, $0.store.currentStatus) }
            return IssuerPoolSummary(
                pooled + self.state.value.failures.all.map { ($0.issuer, KeyStatus(ofFailure: $0.entry)) })
        }
    }
}
