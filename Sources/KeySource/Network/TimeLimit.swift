internal import Host
internal import NIOCore

extension EventLoop {
    /// Runs an operation, and fails it when its time is up, whether or not it can be cancelled: a name that is being resolved
    /// can't, nor a file that is being read from a disk that hangs. Cancelled, it cancels the operation.
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
        // The promise only ever succeeds.
        return try await withTaskCancellationHandler {
            (try? await outcome.futureResult.get()) ?? .failure(timeout)
        } onCancel: {
            running.cancel()
        }.get()
    }
}
