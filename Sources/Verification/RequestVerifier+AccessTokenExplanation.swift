internal import AccessTokens
private import Bytes
internal import Host
internal import IDToken
internal import KeySource
internal import NIOCore
internal import TokenDiagnostics

extension RequestVerifier {
    /// Explains the answer of `POST /v1/access-tokens/verify`, and fetches keys in the same cases.
    ///
    /// - Parameters:
    ///   - deadline: how long to wait for keys.
    ///   - loop: this verifier's event loop.
    func explain(
        _ request: AccessTokenRequest, until deadline: MonotonicTime, on loop: any EventLoop
    ) -> EventLoopFuture<Explained> {
        judged(until: deadline, on: loop) { self.verify(request, at: $0) }.assumeIsolated().map { status, verdict in
            Explained(verdict.provider) { () throws(Problem) in
                try self.explain(request, status, verdict: verdict.problem, now: SystemClocks.unixSeconds())
            }
        }.nonisolated()
    }

    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - verdict: why the token was rejected; `nil` if it was not.
    ///   - now: in Unix seconds.
    /// - Throws: ``Problem/providerUnknown``, ``Problem/audienceNotConfigured``, ``Problem/requestInvalid(_:)``: errors
    ///   in the request rather than the token.
    private func explain(
        _ request: AccessTokenRequest, _ status: KeyStatus?, verdict: Problem?, now: Int64
    ) throws(Problem) -> ExplainAnswer {
        let named = request.provider.flatMap(ofAccessTokens.named)
        let namedOfIDTokens = request.provider.flatMap(ofIDTokens.named)
        if request.provider != nil, named == nil, namedOfIDTokens == nil {
            throw unknownProvider(named: request.provider)
        }
        let (token, index): (UnverifiedToken, Int?)
        do throws(Rejection) {
            (token, index) = try read(request.token, ofProvider: named, among: ofAccessTokens)
        } catch {
            return ExplainAnswer(
                explanation: verifier.explain(malformedAccessToken: request.token, error),
                provider: named.flatMap { slots[$0]?.policy.id }, keys: status, time: now)
        }
        let others = slots.compactMap { $0?.provider.accessTokens == nil ? nil : $0?.policy }
        guard let index, namedOfIDTokens == nil || named != nil, let slot = slots[index],
            let dialect = slot.provider.accessTokens
        else {
            let ofIDs = namedOfIDTokens ?? token.unverifiedIssuer.flatMap { ofIDTokens.withIssuer($0, slots) }
            let explanation = verifier.explain(
                accessToken: token, ofNoneOf: others,
                providerOfIDTokens: ofIDs.flatMap { slots[$0]?.policy.id }, now: UnixTime(seconds: now))
            return ExplainAnswer(explanation: explanation, provider: nil, keys: nil, time: now)
        }
        try request.check(against: slot.policy)
        let explanation = verifier.explain(
            accessToken: token, with: ExplainedKeys(status, onceDecided: verdict, now: now), under: slot.policy,
            dialect, isNamed: named != nil, others: others.filter { !$0.id.isExactly(slot.policy.id) },
            expecting: request.parameters, now: UnixTime(seconds: now))
        return ExplainAnswer(explanation: explanation, provider: slot.policy.id, keys: status, time: now)
    }
}
