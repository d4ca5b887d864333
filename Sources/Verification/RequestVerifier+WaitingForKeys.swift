package import Host
package import NIOCore

internal import IDToken
private import KeySource

/// Handles requests that the current keys can't decide.
extension RequestVerifier {
    /// Waits for the provider's shared fetch, off this loop, then verifies again.
    ///
    /// - Parameter loop: this verifier's event loop.
    package func waitForKeys(
        _ pending: Pending, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<Verdict> {
        wait(pending.wait, until: deadline, on: loop) { problem in
            .refused(problem, provider: pending.provider)
        } verifyingAgain: {
            switch self.verify(pending.request, at: .now()) {
            case .decided(let verdict): .decided(verdict)
            case .pending(let pending): .waiting(pending.wait)
            }
        }
    }

    /// The result of verifying with the current keys.
    enum Attempt<Answer: Sendable> {
        case decided(Answer)
        case waiting(KeyWait)
    }

    /// A verdict on a token that is not an ID Token, or such a token that has to wait for keys.
    package enum TokenOutcome<Answer: TokenAnswer> {
        case decided(TokenVerdict<Answer>)
        case pending(PendingToken<Answer>)
    }

    /// A token that is not an ID Token, and whose verdict could change with newer keys.
    package struct PendingToken<Answer: TokenAnswer> {
        let wait: KeyWait
        let verifyAgain: () -> Attempt<TokenVerdict<Answer>>
    }

    /// The outcome of an attempt, which is made again once there are newer keys.
    func outcome<Answer: TokenAnswer>(
        at now: VerificationTime, _ attempt: @escaping (VerificationTime) -> Attempt<TokenVerdict<Answer>>
    ) -> TokenOutcome<Answer> {
        switch attempt(now) {
        case .decided(let verdict): .decided(verdict)
        case .waiting(let wait): .pending(PendingToken(wait: wait) { attempt(.now()) })
        }
    }

    /// Waits for the provider's shared fetch, off this loop, then verifies again.
    ///
    /// - Parameter loop: this verifier's event loop.
    package func waitForKeys<Answer: TokenAnswer>(
        _ pending: PendingToken<Answer>, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<TokenVerdict<Answer>> {
        wait(pending.wait, until: deadline, on: loop) { problem in
            .refused(problem, provider: pending.wait.provider)
        } verifyingAgain: {
            pending.verifyAgain()
        }
    }

    /// Verifies a token of any kind with the current keys, and waits for others only if they could change the verdict.
    /// The ID Tokens of `/v1/verify` take a path of their own, without closures.
    ///
    /// - Parameters:
    ///   - refused: the problem for a rejection.
    ///   - couldPass: whether fetching keys for the token could help.
    ///   - checkHeader: the checks that need no keys.
    /// - Throws: the problem for a rejection that no newer keys could change.
    func attempt<Answer: Sendable>(
        _ token: UnverifiedToken, _ index: Int, _ slot: ProviderSlot, _ now: VerificationTime,
        refused: (Rejection) -> Problem, couldPass: () -> Bool,
        checkingHeader checkHeader: () throws(Rejection) -> Void,
        verifying verify: (LoopKeySnapshot.Latest) throws(Rejection) -> Answer
    ) throws(Problem) -> Attempt<Answer> {
        guard let keys = slot.keys(usableAt: now.monotonic) else {
            do throws(Rejection) { try checkHeader() } catch { throw refused(error) }
            return .waiting(KeyWait(without: slot, index, mayFetch: couldPass()))
        }
        do throws(Rejection) {
            let answer = try verify(keys)
            if let keyID = token.keyID, keys.snapshot.isUnproven(keyID) { slot.provider.keys.prove(keyID) }
            return .decided(answer)
        } catch {
            let problem = refused(error)
            let wait = wait(
                after: error, problem, token, keys.snapshot, index, slot, now.monotonic, couldPass: couldPass)
            guard let wait else { throw problem }
            return .waiting(wait)
        }
    }

    /// Waits for a provider's shared fetch, off this loop, then verifies again.
    ///
    /// - Parameters:
    ///   - loop: this verifier's event loop.
    ///   - refused: the answer for a problem.
    func wait<Answer: Sendable>(
        _ wait: KeyWait, until deadline: MonotonicTime, on loop: any EventLoop, refused: @escaping (Problem) -> Answer,
        verifyingAgain: @escaping () -> Attempt<Answer>
    ) -> EventLoopFuture<Answer> {
        func finished(_ answer: Answer) -> EventLoopFuture<Answer> {
            loop.makeCompletedFuture(.success(answer))
        }
        let outcome = wait.keys.wait(for: wait.need, judgedBy: wait.version, until: deadline).hop(to: loop)
        return outcome.assumeIsolated().flatMap { outcome in
            switch outcome {
            case .unchanged: return finished(refused(wait.currentProblem))
            case .unavailable(let retryAfter):
                // A rejection would be final, but the token may be valid: its key could not be fetched.
                let problem =
                    wait.isMissingKey
                    ? Problem.keysUnavailable(retryAfterSeconds: max(retryAfter.secondsRoundedUp, 1))
                    : wait.currentProblem
                return finished(refused(problem))
            case .refreshed, .retry: break
            }
            switch verifyingAgain() {
            case .decided(let answer): return finished(answer)
            case .waiting(let next):
                guard outcome == .retry else { return finished(refused(next.currentProblem)) }
                // This terminates: each round uses newer keys, and the deadline applies to all rounds.
                return self.wait(
                    next, until: deadline, on: loop, refused: refused, verifyingAgain: verifyingAgain)
            }
        }.nonisolated()
    }
}
