package import Host
package import NIOCore

private import KeySource

/// Requests that the keys at hand can't decide.
extension RequestVerifier {
    /// Waits for the provider's one shared fetch, off this loop, and verifies once more when it is back.
    ///
    /// - Parameter loop: this verifier's.
    package func waitForKeys(
        _ pending: Pending, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<Verdict> {
        func finished(_ verdict: Verdict) -> EventLoopFuture<Verdict> { loop.makeSucceededFuture(verdict) }
        let provider = pending.provider
        let outcome = pending.keys.wait(for: pending.need, judgedBy: pending.version, until: deadline).hop(to: loop)
        return outcome.assumeIsolated().flatMap { outcome in
            switch outcome {
            case .unchanged: return finished(.refused(pending.currentProblem, provider: provider))
            case .unavailable(let retryAfter):
                // Such a refusal is final, and the token may be a good one, by a key that could not be fetched.
                let problem =
                    pending.isMissingKey
                    ? Problem.keysUnavailable(retryAfterSeconds: max(retryAfter.secondsRoundedUp, 1))
                    : pending.currentProblem
                return finished(.refused(problem, provider: provider))
            case .refreshed, .retry: break
            }
            switch self.verify(pending.request, at: .now()) {
            case .decided(let verdict): return finished(verdict)
            case .pending(let pending):
                guard outcome == .retry else {
                    return finished(.refused(pending.currentProblem, provider: pending.provider))
                }
                // Each round is judged by newer keys, and the deadline ends them all.
                return self.waitForKeys(pending, until: deadline, on: loop)
            }
        }.nonisolated()
    }
}
