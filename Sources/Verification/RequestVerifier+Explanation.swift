private import Bytes
package import Host
internal import IDToken
internal import KeySource
package import NIOCore
internal import TokenDiagnostics

extension RequestVerifier {
    /// Explains what ``verify(_:at:)`` answers to a request. Where that would have keys fetched, so does this.
    ///
    /// - Parameters:
    ///   - deadline: how long it waits for keys.
    ///   - loop: this verifier's.
    /// - Returns: the explanation, or what is wrong with the request and not with its token; and the number of the provider
    ///   that it is about.
    package func explain(
        _ request: VerifyRequest, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<(answer: Result<ExplainAnswer, Problem>, provider: Int?)> {
        let outcome = verify(request, at: .now())
        let number = outcome.provider
        let provider = providers.first { $0.number == number }
        // A header that is refused needs no keys, but telling of the signature does: of a fetch under way it waits for the end.
        let waitsForKeys = provider?.snapshot == nil && !outcome.isMalformed
        let decided = status(
            of: provider?.provider.keys, onceDecided: outcome, waitingForKeys: waitsForKeys, until: deadline, on: loop)
        return decided.hop(to: loop).assumeIsolated().map { status, verdict in
            do throws(Problem) {
                let answer = try self.explain(request, status, verdict: verdict, now: SystemClocks.unixSeconds())
                return (.success(answer), number)
            } catch {
                return (.failure(error), number)
            }
        }.nonisolated()
    }

    /// The state of a provider's keys, once a fetch that could bring what is needed has ended; and why the token would be
    /// refused then, if it would.
    private func status(
        of keys: KeyStore?, onceDecided outcome: Outcome, waitingForKeys: Bool, until deadline: MonotonicTime,
        on loop: any EventLoop
    ) -> EventLoopFuture<(KeyStatus?, Problem?)> {
        let problem: EventLoopFuture<Problem?>
        switch outcome {
        case .decided(let verdict):
            let decided = verdict.problem
            let fetched = keys.flatMap {
                waitingForKeys ? $0.wait(for: .anyKeys(mayFetch: false), judgedBy: 0, until: deadline) : nil
            }
            problem = fetched?.map { _ in decided } ?? loop.makeSucceededFuture(decided)
        case .pending(let pending):
            problem = waitForKeys(pending, until: deadline, on: loop).assumeIsolated().map(\.problem).nonisolated()
        }
        guard let keys else { return problem.map { (nil, $0) } }
        return problem.flatMap { problem in keys.status().map { ($0, problem) } }
    }

    /// - Parameters:
    ///   - status: of the keys of the provider that it is about; `nil` where it is about none.
    ///   - verdict: why the token was refused; `nil` where it was not.
    ///   - now: in Unix seconds.
    /// - Throws: ``Problem/providerUnknown`` where the request names one that is not there,
    ///   ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``: what is wrong with the request, and not with its token.
    private func explain(
        _ request: VerifyRequest, _ status: KeyStatus?, verdict: Problem?, now: Int64
    ) throws(Problem) -> ExplainAnswer {
        let named = request.provider.flatMap { provider($0) }
        if request.provider != nil, named == nil { throw .providerUnknown }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.idToken)
        } catch {
            return ExplainAnswer(
                explanation: verifier.explain(malformed: request.idToken, error),
                provider: named?.provider.policy.id, keys: status, time: now)
        }
        let policies = providers.map(\.provider.policy)
        guard let provider = (named ?? token.unverifiedIssuer.flatMap(provider(ofIssuer:)))?.provider else {
            return ExplainAnswer(
                explanation: verifier.explain(token, ofNoneOf: policies, now: UnixTime(seconds: now)), provider: nil,
                keys: nil, time: now)
        }
        let policy = provider.policy
        try request.check(against: policy)
        let explanation = verifier.explain(
            token,
            with: status.flatMap { ExplainedKeys($0, isMissingKey: verdict?.code == "keys_unavailable", now: now) },
            under: policy,
            isNamed: named != nil, usesNoncesOnce: provider.usesNoncesOnce,
            others: policies.filter { !$0.id.isExactly(policy.id) },
            expecting: request.parameters, now: UnixTime(seconds: now))
        return ExplainAnswer(explanation: explanation, provider: policy.id, keys: status, time: now)
    }
}

extension RequestVerifier.Outcome {
    fileprivate var isMalformed: Bool {
        if case .decided(.refused(.rejected(.tokenMalformed), _)) = self { true } else { false }
    }
}

extension ExplainedKeys {
    /// `nil` where a provider has no keys that may verify now.
    ///
    /// - Parameter isMissingKey: whether a key that was looked for could not be fetched.
    fileprivate init?(_ status: KeyStatus, isMissingKey: Bool, now: Int64) {
        guard let snapshot = status.snapshot, snapshot.isUsable(at: status.now) else { return nil }
        self.init(
            set: snapshot.keys, algorithms: snapshot.algorithms,
            fetchedAt: UnixTime(seconds: snapshot.fetchedAtUnixSeconds),
            nextFetchAt: status.nextFetchAt(unixSeconds: now).map(UnixTime.init(seconds:)),
            clockOffsetSeconds: snapshot.clockOffsetSeconds,
            fetchFailure: status.lastFailure?.message, isMissingKey: isMissingKey)
    }
}
