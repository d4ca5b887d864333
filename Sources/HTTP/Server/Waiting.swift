package import NIOCore

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
}

extension EventLoop {
    /// Starts a task whose steps all run on this loop, where this must be called. The first step runs at once, so that a
    /// task that does not wait after all ends before this returns.
    package func startTask(_ operation: @escaping () async -> Void) {
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
