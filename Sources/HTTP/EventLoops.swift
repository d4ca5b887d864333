package import NIOCore
package import NIOPosix

/// One value for each event loop of a group: created on its loop and used only there.
package struct PerLoop<Value>: Sendable {
    private let loops: [any EventLoop]
    private let values: [ObjectIdentifier: NIOLoopBound<Value>]

    /// Creates the values.
    ///
    /// - Throws: any error of `make`.
    package init(
        on group: MultiThreadedEventLoopGroup, _ make: @escaping @Sendable (any EventLoop) throws -> Value
    ) async throws {
        var values: [ObjectIdentifier: NIOLoopBound<Value>] = [:]
        loops = Array(group.makeIterator())
        for loop in loops {
            values[ObjectIdentifier(loop)] = try await loop.submit {
                NIOLoopBound(try make(loop), eventLoop: loop)
            }.get()
        }
        self.values = values
    }

    /// The value of the only event loop. Call it on that loop.
    package init(on loop: any EventLoop, _ value: Value) {
        loops = [loop]
        values = [ObjectIdentifier(loop): NIOLoopBound(value, eventLoop: loop)]
    }

    /// The value of one of the group's loops. Call it only on that loop.
    package subscript(loop: any EventLoop) -> Value {
        guard let bound = values[ObjectIdentifier(loop)] else { preconditionFailure("a loop of another group") }
        return bound.value
    }

    /// Calls a function with each value, on its loop.
    package func onEach<Result: Sendable>(
        _ body: @escaping @Sendable (Value) throws -> Result
    ) -> [EventLoopFuture<Result>] {
        loops.map { loop in loop.submit { try body(self[loop]) } }
    }
}

/// A value that is there now, or a function that waits for it.
///
/// Most requests are answered at once, so that form costs nothing. A task is started only for one that waits.
package enum Reply<Value, Failure: Error> {
    case now(Value)
    case later(() async throws(Failure) -> Value)

    /// The value, after waiting if necessary.
    package func value() async throws(Failure) -> Value {
        switch self {
        case .now(let value): value
        case .later(let wait): try await wait()
        }
    }

    /// The value, if it is there now.
    // Where `Failure` is `Never`, a `switch` outside of this type crashes the compiler (Swift 6.3).
    package var immediate: Value? { if case .now(let value) = self { value } else { nil } }

    /// A reply with the transformed value: there at once if this one is.
    package func map<Other>(_ transform: @escaping (Value) -> Other) -> Reply<Other, Failure> {
        switch self {
        case .now(let value): .now(transform(value))
        case .later(let wait): .later { () async throws(Failure) in transform(try await wait()) }
        }
    }
}

/// Runs the steps of tasks on an event loop, a few a turn.
package final class LoopExecutor: TaskExecutor {
    private let turns: LoopTurns

    package init(_ loop: any EventLoop) { turns = LoopTurns(on: loop) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        turns.loop.execute {
            // Most steps run at once, so only one that waits gets a closure.
            guard self.turns.mayBegin() else {
                return self.turns.queue { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            }
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// Starts a task whose steps all run on this loop, where this must be called. The first step runs at once, so that a
    /// task that does not wait after all ends before this returns.
    func startTask(_ operation: @escaping () async -> Void) {
        let bound = NIOLoopBound(operation, eventLoop: turns.loop)
        Task.immediate(executorPreference: self) { await bound.value() }
    }

    /// Starts a task like ``startTask(_:)``, and returns its outcome as a future.
    package func future<Value: Sendable>(of operation: @escaping () async throws -> Value) -> EventLoopFuture<Value> {
        let promise = turns.loop.makePromise(of: Value.self)
        startTask {
            do { promise.succeed(try await operation()) } catch { promise.fail(error) }
        }
        return promise.futureResult
    }
}

/// Runs pieces of work on an event loop, a few a turn.
///
/// In one turn, an event loop reads what its connections have received, and then runs every task that it was given. If a
/// thousand requests wait for one provider, their answers come together: without a limit, the loop would serve no other
/// request until all of them are finished. Nor may busy connections hold up the requests that have waited: these always
/// get as much time as everything else took.
package final class LoopTurns: Sendable {
    let loop: any EventLoop
    private let now: @Sendable () -> NIODeadline
    private let state: NIOLoopBoundBox<State>

    private struct State {
        /// In the order in which it came.
        var waiting = CircularBuffer<() -> Void>()
        /// How many pieces may still run in this turn.
        var left = LoopTurns.most
        /// Whether a task will end this turn, or begin the next one.
        var isTurning = false
    }

    /// The pieces of work of one turn, unless everything else takes longer. Most of them verify a token and write a
    /// response, which takes about as long as a request that waits for nothing.
    static let most = 4
    /// Without a pause, the event loop would run the next pieces before it looks at its connections.
    private static let pause = TimeAmount.microseconds(5)

    package convenience init(on loop: any EventLoop) { self.init(on: loop) { loop.now } }

    /// - Parameter now: the loop's clock.
    init(on loop: any EventLoop, now: @escaping @Sendable () -> NIODeadline) {
        self.loop = loop
        self.now = now
        state = .makeBoxSendingValue(State(), eventLoop: loop)
    }

    /// Runs work at once if this turn has room for it and no other waits, otherwise in a later turn. On the loop.
    package func run(_ work: @escaping () -> Void) {
        if mayBegin() { work() } else { queue(work) }
    }

    /// Runs work in a later turn, which is certain only if ``mayBegin()`` has just been `false`.
    fileprivate func queue(_ work: @escaping () -> Void) { state.value.waiting.append(work) }

    /// Whether work may run at once; it then takes part of this turn.
    fileprivate func mayBegin() -> Bool {
        guard state.value.left > 0, state.value.waiting.isEmpty else { return false }
        endTurnLater()
        state.value.left -= 1
        return true
    }

    /// Runs work like ``run(_:)``, and returns its outcome. On any thread.
    package func submit<Value: Sendable>(
        _ work: @escaping @Sendable () -> EventLoopFuture<Value>
    ) -> EventLoopFuture<Value> {
        let promise = loop.makePromise(of: Value.self)
        loop.execute { self.run { work().cascade(to: promise) } }
        return promise.futureResult
    }

    /// The task runs after everything that the loop has been given so far.
    private func endTurnLater() {
        guard !state.value.isTurning else { return }
        state.value.isTurning = true
        loop.execute { self.turnEnded() }
    }

    private func turnEnded() {
        state.value.isTurning = !state.value.waiting.isEmpty
        guard state.value.isTurning else { return state.value.left = Self.most }
        let pausedAt = now()
        loop.scheduleTask(in: Self.pause) { self.turn(pausedAt: pausedAt) }
    }

    /// Runs what waits: some pieces at least, and as many as fit in the time that the loop has spent on everything else.
    private func turn(pausedAt: NIODeadline) {
        let begun = now()
        let share = begun - pausedAt - Self.pause
        state.value.left = Self.most
        while state.value.left > 0 || now() - begun < share, let work = state.value.waiting.popFirst() {
            state.value.left = max(state.value.left - 1, 0)
            work()
        }
        state.value.isTurning = false
        endTurnLater()
    }
}
