package import Host
package import NIOCore

private import KeySource

/// Handles requests that the current keys can't decide.
extension RequestVerifier {
    /// Waits for the provider's shared fetch, off this loop, then verifies again.
    ///
    /// - Parameter loop: this verifier's event loop.
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
                // A rejection would be final, but the token may be valid: its key could not be fetched.
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
                // This terminates: each round uses newer keys, and the deadline applies to all rounds.
                return self.waitForKeys(pending, until: deadline, on: loop)
            }
        }.nonisolated()
    }
}
