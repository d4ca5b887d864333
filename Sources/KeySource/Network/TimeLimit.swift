internal import Host
internal import NIOCore

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
