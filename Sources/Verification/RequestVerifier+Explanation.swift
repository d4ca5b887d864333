private import AccessTokens
private import Bytes
package import Host
internal import IDToken
internal import KeySource
package import NIOCore
internal import TokenDiagnostics

extension RequestVerifier {
    /// Prepares the explanation of a request.
    ///
    /// - Parameters:
    ///   - forwardAuth: decides for gateways, with this verifier; `nil` if there are no policies.
    ///   - deadline: how long to wait for keys.
    ///   - loop: this verifier's event loop.
    /// - Returns: a function that creates the explanation.
    /// - Throws: ``Problem/requestInvalid(_:)`` if there is no such policy.
    package func explanation(
        of request: ExplainRequest, _ forwardAuth: ForwardAuth?, until deadline: MonotonicTime, on loop: any EventLoop
    ) throws(Problem) -> () -> EventLoopFuture<Explained> {
        switch request {
        case .idToken(let request): return { self.explain(request, until: deadline, on: loop) }
        case .accessToken(let request): return { self.explain(request, until: deadline, on: loop) }
        case .notification(let request): return { self.explain(request, until: deadline, on: loop) }
        case .gateway(let token, let policy):
            guard let forwardAuth, let rule = forwardAuth.rule(named: policy) else {
                throw .requestInvalid(
                    "The request's policy is not the id of a policy of forward_auth, byte for byte; correct it, or add the policy."
                )
            }
            return { forwardAuth.explain(token, by: rule, until: deadline, on: loop) }
        }
    }

    /// Explains the verdict of ``verify(_:at:)``, and fetches keys in the same cases.
    ///
    /// - Parameters:
    ///   - deadline: how long to wait for keys.
    ///   - loop: this verifier's event loop.
    private func explain(
        _ request: VerifyRequest, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<Explained> {
        judged(until: deadline, on: loop) { self.verify(request, at: $0) }.assumeIsolated().map { status, verdict in
            Explained(verdict.provider) { () throws(Problem) in
                try self.explain(request, status, verdict: verdict.problem, now: SystemClocks.unixSeconds())
            }
        }.nonisolated()
    }

    /// An explanation, or an error in the request rather than the token; and the number of the token's provider.
    package struct Explained {
        package let answer: Result<ExplainAnswer, Problem>
        package let provider: Int?

        init(_ provider: Int?, _ explain: () throws(Problem) -> ExplainAnswer) {
            self.provider = provider
            do throws(Problem) { answer = .success(try explain()) } catch { answer = .failure(error) }
        }
    }

    /// Waits for a fetch that could help. Returns the state of the provider's keys afterwards, `nil` if there is no
    /// provider, and the verdict on the token.
    func judged<Answer: Sendable>(
        until deadline: MonotonicTime, on loop: any EventLoop,
        verifying verify: @escaping (VerificationTime) -> Outcome<Answer>
    ) -> EventLoopFuture<(KeyStatus?, Verdict<Answer>)> {
        let outcome = verify(.now())
        let slot = outcome.provider.flatMap { slots[$0] }
        let decided: EventLoopFuture<Verdict<Answer>>
        switch outcome {
        case .decided(let verdict):
            // A rejected header needs no keys. But an explanation also covers the signature, so it waits for a fetch in
            // progress.
            let waits =
                slot?.delivered.snapshot == nil && verdict.problem?.code != Rejection.Code.tokenMalformed.rawValue
            let fetched = slot.flatMap {
                waits ? $0.provider.keys.wait(for: .anyKeys(mayFetch: false), judgedBy: 0, until: deadline) : nil
            }
            decided = fetched?.hop(to: loop).map { _ in verdict } ?? loop.makeSucceededFuture(verdict)
        case .pending(let wait):
            decided = waitForKeys(wait, until: deadline, on: loop) { verify(.now()) }
        }
        guard let keys = slot?.provider.keys else { return decided.map { (nil, $0) } }
        return decided.flatMap { verdict in keys.status().map { ($0, verdict) } }.hop(to: loop)
    }

    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - verdict: why the token was rejected; `nil` if it was not.
    ///   - now: in Unix seconds.
    /// - Throws: ``Problem/providerUnknown`` if the request names an unknown provider,
    ///   ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``: errors in the request rather than the
    ///   token.
    private func explain(
        _ request: VerifyRequest, _ status: KeyStatus?, verdict: Problem?, now: Int64
    ) throws(Problem) -> ExplainAnswer {
        let named = request.provider.flatMap(ofIDTokens.named).flatMap { slots[$0] }?.provider
        let namedOfAccessTokens = request.provider.flatMap(ofAccessTokens.named).flatMap { slots[$0] }
        if request.provider != nil, named == nil, namedOfAccessTokens == nil {
            throw unknownProvider(named: request.provider)
        }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.idToken)
        } catch {
            return ExplainAnswer(
                explanation: verifier.explain(malformed: request.idToken, error),
                provider: named?.policy.id, keys: status, time: now)
        }
        let ofIssuersAccessTokens = token.unverifiedIssuer.flatMap { ofAccessTokens.withIssuer($0, slots) }
        let accessTokens = (namedOfAccessTokens ?? ofIssuersAccessTokens.flatMap { slots[$0] })?.entry(
            for: token, now: UnixTime(seconds: now))
        let policies = providers.map(\.provider).filter { $0.accessTokens == nil }.map(\.policy)
        let ofIssuer = token.unverifiedIssuer.flatMap { ofIDTokens.withIssuer($0, slots) }.flatMap { slots[$0] }
        if let accessTokens, named == nil, namedOfAccessTokens != nil || ofIssuer == nil {
            return ExplainAnswer(
                explanation: verifier.explain(token, ofAccessTokens: accessTokens, now: UnixTime(seconds: now)),
                provider: accessTokens.id, keys: nil, time: now)
        }
        guard let provider = named ?? ofIssuer?.provider else {
            return ExplainAnswer(
                explanation: verifier.explain(token, ofNoneOf: policies, now: UnixTime(seconds: now)), provider: nil,
                keys: nil, time: now)
        }
        let policy = provider.policy
        try request.check(against: policy)
        let explanation = verifier.explain(
            token,
            with: ExplainedKeys(status, onceDecided: verdict, now: now),
            under: policy,
            isNamed: named != nil, usesNoncesOnce: provider.usesNoncesOnce,
            others: policies.filter { !$0.id.isExactly(policy.id) }, accessTokens: accessTokens,
            expecting: request.parameters, now: UnixTime(seconds: now))
        return ExplainAnswer(explanation: explanation, provider: policy.id, keys: status, time: now)
    }
}

extension RequestVerifier.ProviderSlot {
    /// Describes this provider as a verifier of access tokens, and whether the token's claims fit it; `nil` if the
    /// provider verifies ID Tokens.
    fileprivate func entry(for token: UnverifiedToken, now: UnixTime) -> AccessTokenEntry? {
        provider.accessTokens.map { dialect in
            AccessTokenEntry(
                id: policy.id, fits: token.wouldPassClaims(ofAccessTokenUnder: policy, dialect, now: now))
        }
    }
}

extension ExplainedKeys {
    /// `nil` if the provider has no keys that may be used now.
    ///
    /// - Parameter verdict: why the token was rejected; `nil` if it was not.
    init?(_ status: KeyStatus?, onceDecided verdict: Problem?, now: Int64) {
        guard let status, let snapshot = status.snapshot, snapshot.isUsable(at: status.now) else { return nil }
        self.init(
            set: snapshot.keys, algorithms: snapshot.algorithms,
            fetchedAt: UnixTime(seconds: snapshot.fetchedAtUnixSeconds),
            nextFetchAt: status.nextFetchAt(unixSeconds: now).map(UnixTime.init(seconds:)),
            clockOffsetSeconds: snapshot.clockOffsetSeconds,
            fetchFailure: status.lastFailure?.message, isMissingKey: verdict?.code == "keys_unavailable")
    }
}
