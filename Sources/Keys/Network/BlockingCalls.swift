internal import HTTP
internal import NIOCore
private import NIOPosix
private import Synchronization

/// Runs calls that block on a disk, on a few threads that all providers share.
///
/// Such a call has no time limit and can't be cancelled. Callers with the same key share one call, so a file that
/// hangs takes one thread, however often it is tried, and delays no other while a thread is free.
final class BlockingCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let threads: NIOThreadPool
    private let underWay = Mutex<[Key: Task<Value, any Error>]>([:])

    init(threads count: Int) {
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    /// The result of a call, or of one for the same key that has not returned yet.
    func run(for key: Key, _ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await underWay.withLock { underWay in
            if let running = underWay[key] { return running }
            let running = Task { [threads] in
                defer { self.underWay.withLock { $0[key] = nil } }
                return try await threads.runIfActive(call)
            }
            underWay[key] = running
            return running
        }.value
    }
}

extension EventLoop {
    /// Runs an operation, and fails at its timeout even if the operation can't be cancelled, like a name lookup or a
    /// read from a hanging disk. Cancelling the task cancels the operation.
    func withTimeout<Value: Sendable>(
        _ limit: Interval, orThrow timeout: FetchFailure,
        _ operation: @escaping @Sendable () async throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        let outcome = makePromise(of: Result<Value, FetchFailure>.self)
        let running = Task {
            do throws(FetchFailure) {
                outcome.succeed(.success(try await operation()))
            } catch {
                outcome.succeed(.failure(error))
            }
        }
        let timer = scheduleTask(in: .milliseconds(limit.milliseconds)) {
            running.cancel()
            outcome.succeed(.failure(timeout))
        }
        defer { timer.cancel() }
        // The promise never fails.
        return try await withTaskCancellationHandler {
            (try? await outcome.futureResult.get()) ?? .failure(timeout)
        } onCancel: {
            running.cancel()
        }.get()
    }
}
