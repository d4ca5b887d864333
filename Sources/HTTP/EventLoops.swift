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

extension EventLoop {
    /// Starts a task whose steps all run on this loop, where this must be called. The first step runs at once, so that a
    /// task that does not wait after all ends before this returns.
    func startTask(_ operation: @escaping () async -> Void) {
        let bound = NIOLoopBound(operation, eventLoop: self)
        Task.immediate(executorPreference: LoopExecutor(self)) { await bound.value() }
    }

    /// Starts a task like ``startTask(_:)``, and returns its outcome as a future.
    package func future<Value: Sendable>(of operation: @escaping () async throws -> Value) -> EventLoopFuture<Value> {
        let promise = makePromise(of: Value.self)
        startTask {
            do { promise.succeed(try await operation()) } catch { promise.fail(error) }
        }
        return promise.futureResult
    }
}

/// Runs the steps of tasks on an event loop.
package final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    package init(_ loop: any EventLoop) { self.loop = loop }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
