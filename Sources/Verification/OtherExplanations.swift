private import Bytes
internal import HTTP
internal import IDToken
internal import Keys
internal import TokenDiagnostics

extension RequestVerifier {
    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - verdict: why the token was rejected; `nil` if it was not.
    ///   - now: in Unix seconds.
    /// - Throws: ``Problem/providerUnknown``, ``Problem/resourceUnknown(nearest:)``, ``Problem/audienceNotConfigured``,
    ///   ``Problem/requestInvalid(_:)``: errors in the request rather than the token.
    func explain(
        _ request: AccessTokenRequest, _ status: KeyStatus?, verdict: Problem?, now: Int64
    ) throws(Problem) -> ExplainAnswer {
        let named = request.provider.flatMap(ofAccessTokens.named)
        let namedOfIDTokens = request.provider.flatMap(ofIDTokens.named)
        if request.provider != nil, named == nil, namedOfIDTokens == nil {
            throw unknownProvider(named: request.provider)
        }
        let resource = request.resource.flatMap(resource)
        if let named = request.resource, resource == nil { throw unknownResource(named: named) }
        guard let text = request.token else {
            throw .requestInvalid("token must be a string, because without a token there is nothing to explain.")
        }
        let (token, index): (UnverifiedToken, Int?)
        do throws(Rejection) {
            (token, index) = try read(text, ofProvider: named, among: resource?.providers ?? ofAccessTokens)
        } catch {
            return ExplainAnswer(
                explanation: Explanation(ofNoResourceOf: verdict)
                    ?? verifier.explain(malformed: text, as: .accessToken, error),
                provider: named.flatMap { slots[$0]?.policy.id }, keys: status, time: now)
        }
        let others = singlePolicies(of: resource) { $0.accessTokens != nil && $0.introspector == nil }
        guard let index, namedOfIDTokens == nil || named != nil,
            let slot = try explainedSlot(index, token, nil, of: resource),
            let dialect = slot.provider.accessTokens
        else {
            let ofIDs = namedOfIDTokens ?? token.unverifiedIssuer.flatMap { ofIDTokens.withIssuer($0, slots) }
            let explanation = verifier.explain(
                accessToken: token, ofNoneOf: others,
                providerOfIDTokens: ofIDs.flatMap { slots[$0]?.policy.id }, isForResource: resource != nil,
                now: UnixTime(seconds: now))
            return ExplainAnswer(explanation: explanation, provider: nil, keys: nil, time: now)
        }
        try request.check(against: slot.policy)
        let explanation = verifier.explain(
            accessToken: token, with: ExplainedKeys(status, onceDecided: verdict, now: now), under: slot.policy,
            dialect, isNamed: named != nil, fetchesLazily: slot.source.isLazy,
            others: others.filter { !$0.id.isExactly(slot.policy.id) },
            expecting: request.parameters, now: UnixTime(seconds: now))
        return ExplainAnswer(explanation: explanation, provider: slot.policy.id, keys: status, time: now)
    }
}

extension Explanation {
    /// Explains an opaque token that no provider of its resource verifies.
    ///
    /// - Parameter verdict: the problem of a text that is no JWT; the result is `nil` if it has another problem.
    init?(ofNoResourceOf verdict: Problem?) {
        guard let verdict, verdict == .issuerNotOfResource else { return nil }
        self.init(opaqueTokenRefusedAt: .provider, code: verdict.code, Diagnosis(sentence: verdict.detail))
    }
}

extension RequestVerifier {
    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - now: in Unix seconds.
    /// - Throws: ``Problem/providerUnknown`` if the request names an unknown provider,
    ///   ``Problem/notificationsNotConfigured``: errors in the request or the settings rather than the token.
    func explain(
        _ request: NotificationRequest, _ status: KeyStatus?, _ verdict: Verdict<NotificationAnswer>, now: Int64
    ) throws(Problem) -> ExplainAnswer {
        if verdict.problem == .notificationsNotConfigured { throw .notificationsNotConfigured }
        if request.provider != nil, case .providerUnknown? = verdict.problem {
            throw unknownProvider(named: request.provider)
        }
        let time = UnixTime(seconds: now)
        let entry = verdict.provider.flatMap { slots[$0] }
        let token: UnverifiedToken
        do throws(Rejection) {
            token = try verifier.read(request.token)
        } catch {
            return ExplainAnswer(
                explanation: verifier.explain(malformed: request.token, as: .notification, error),
                provider: entry?.policy.id, keys: status, time: now)
        }
        let accepting = singleIssuers.map(\.provider).filter { $0.notifications != nil }.map(\.policy)
        let explained =
            if let number = verdict.provider { try explainedSlot(number, token, request.connection) } else {
                nil as ProviderSlot?
            }
        guard let slot = explained, let rules = slot.provider.notifications else {
            return ExplainAnswer(
                explanation: verifier.explain(notification: token, ofNoneOf: accepting, now: time), provider: nil,
                keys: nil, time: now)
        }
        let explanation = verifier.explain(
            notification: token, with: ExplainedKeys(status, onceDecided: verdict.problem, now: now),
            under: slot.policy, rules, isNamed: request.provider != nil, fetchesLazily: slot.source.isLazy,
            others: accepting.filter { !$0.id.isExactly(slot.policy.id) }, now: time)
        return ExplainAnswer(explanation: explanation, provider: slot.policy.id, keys: status, time: now)
    }
}
