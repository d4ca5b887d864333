internal import Clocks
internal import KeySource
internal import NIOCore

/// Requests that the keys at hand can't decide.
extension ServiceLoop {
    /// Waits for the provider's one shared fetch, off this loop, and verifies once more when it is back.
    ///
    /// - Parameters:
    ///   - verifications: those that the request began with; there may be others by now.
    ///   - otherwise: the verdict by the keys at hand.
    func wait(
        for need: Verifications.KeyNeed, _ provider: Int, _ request: VerifyRequest, _ verifications: Verifications,
        _ otherwise: Problem, until deadline: MonotonicTime
    ) -> EventLoopFuture<Verdict> {
        let outcome = need.keys.wait(for: need.need, judgedBy: need.version, until: deadline).hop(to: loop)
        return outcome.assumeIsolated().flatMap { outcome in
            switch outcome {
            case .upheld: return self.settled(.refused(otherwise, provider: provider))
            case .unavailable(let retryAfter):
                // Such a refusal is final, and the token may be a good one, by a key that could not be fetched.
                let problem =
                    need.lacksKey
                    ? Problem.keysUnavailable(retryAfterSeconds: max(retryAfter.secondsRoundedUp, 1)) : otherwise
                return self.settled(.refused(problem, provider: provider))
            case .refreshed, .lookAgain: break
            }
            switch verifications.verify(request, at: .now()) {
            case .decided(let verdict): return self.settled(verdict)
            case .needsKeys(let need, let provider, let otherwise):
                guard outcome == .lookAgain else { return self.settled(.refused(otherwise, provider: provider)) }
                // Each round is judged by newer keys, and the deadline ends them all.
                return self.wait(for: need, provider, request, verifications, otherwise, until: deadline)
            }
        }.nonisolated()
    }

    private func settled(_ verdict: Verdict) -> EventLoopFuture<Verdict> { loop.makeSucceededFuture(verdict) }
}
