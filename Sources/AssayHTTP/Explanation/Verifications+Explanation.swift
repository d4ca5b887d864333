internal import Clocks
internal import IDToken
private import JSON
internal import KeySource

extension Verifications {
    /// Explains what ``verify(_:)`` answers to a request.
    ///
    /// - Parameters:
    ///   - status: of the keys of the provider that it is about; `nil` where it is about none.
    ///   - verdict: why the token was refused; `nil` where it was not.
    ///   - now: in Unix seconds.
    /// - Throws: ``Problem/providerUnknown`` where the request names one that is not there,
    ///   ``Problem/audienceNotConfigured``: what is wrong with the request, and not with its token.
    func explain(
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
        guard let policy = (named ?? token.unverifiedIssuer.flatMap(provider(ofIssuer:)))?.provider.policy else {
            return ExplainAnswer(
                explanation: verifier.explain(token, ofNoneOf: policies, now: UnixTime(seconds: now)), provider: nil,
                keys: nil, time: now)
        }
        if let audience = request.expectations.audience, !policy.audiences.containsExactly(audience) {
            throw .audienceNotConfigured
        }
        let explanation = verifier.explain(
            token, with: status.flatMap { ExplainedKeys($0, lacksKey: verdict?.code == "keys_unavailable", now: now) },
            under: policy,
            isNamed: named != nil, others: policies.filter { !$0.id.isExactly(policy.id) },
            expecting: request.expectations, now: UnixTime(seconds: now))
        return ExplainAnswer(explanation: explanation, provider: policy.id, keys: status, time: now)
    }
}

extension ExplainedKeys {
    /// `nil` where a provider has no keys that may verify now.
    ///
    /// - Parameter lacksKey: whether a key that was looked for could not be fetched.
    fileprivate init?(_ status: KeyStatus, lacksKey: Bool, now: Int64) {
        guard let snapshot = status.snapshot, snapshot.isUsable(at: status.now) else { return nil }
        self.init(
            set: snapshot.keys, algorithms: snapshot.algorithms,
            fetchedAt: UnixTime(seconds: snapshot.fetchedAtUnixSeconds),
            nextFetchAt: status.nextFetchAt(unixSeconds: now).map(UnixTime.init(seconds:)),
            clockOffsetSeconds: snapshot.clockOffsetSeconds,
            fetchFailure: status.lastFailure?.message, lacksKey: lacksKey)
    }
}
