private import Bytes
internal import HTTP
internal import IDToken
internal import Keys
internal import NIOCore
internal import OAuth
internal import TokenDiagnostics

extension RequestVerifier {
    /// - Parameters:
    ///   - status: the state of the provider's keys; `nil` if there is no provider.
    ///   - verdict: why the token was rejected; `nil` if it was not.
    /// - Throws: ``Problem/providerUnknown``, ``Problem/resourceUnknown(nearest:)``, ``Problem/audienceNotConfigured``,
    ///   ``Problem/requestInvalid(_:)``: errors in the request rather than the token.
    func explain(
        _ request: AccessTokenRequest, _ status: KeyStatus?, verdict: Problem?, now: UnixTime
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
                accessToken: token, ofNoneOf: others, providerOfIDTokens: ofIDs.flatMap { slots[$0]?.policy.id },
                isForResource: resource != nil, now: now)
            return ExplainAnswer(explanation: explanation, provider: nil, keys: nil, time: now)
        }
        try request.parameters.check(against: slot.policy)
        let explanation = verifier.explain(
            accessToken: token, with: ExplainedKeys(status, onceDecided: verdict, now: now), under: slot.policy,
            dialect, isNamed: named != nil, fetchesLazily: slot.source.isLazy,
            others: others.filter { !$0.id.isExactly(slot.policy.id) }, expecting: request.parameters, now: now)
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
    /// - Throws: ``Problem/providerUnknown`` if the request names an unknown provider,
    ///   ``Problem/notificationsNotConfigured``: errors in the request or the settings rather than the token.
    func explain(
        _ request: NotificationRequest, _ status: KeyStatus?, _ verdict: Verdict<NotificationAnswer>, now: UnixTime
    ) throws(Problem) -> ExplainAnswer {
        if verdict.problem == .notificationsNotConfigured { throw .notificationsNotConfigured }
        if request.provider != nil, case .providerUnknown? = verdict.problem {
            throw unknownProvider(named: request.provider)
        }
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
                explanation: verifier.explain(notification: token, ofNoneOf: accepting, now: now), provider: nil,
                keys: nil, time: now)
        }
        let explanation = verifier.explain(
            notification: token, with: ExplainedKeys(status, onceDecided: verdict.problem, now: now),
            under: slot.policy, rules, isNamed: request.provider != nil, fetchesLazily: slot.source.isLazy,
            others: accepting.filter { !$0.id.isExactly(slot.policy.id) }, now: now)
        return ExplainAnswer(explanation: explanation, provider: slot.policy.id, keys: status, time: now)
    }
}

/// Explanations of encrypted tokens.
extension RequestVerifier {
    /// Explains a request, after its token has been opened if it is encrypted.
    ///
    /// - Parameters:
    ///   - outcome: of the request's verification.
    ///   - text: the token, as it was sent.
    ///   - names: the checks of its kind.
    ///   - inside: the same request for the token inside.
    ///   - explain: explains a request whose token is signed.
    func explained<Request, Answer>(
        _ request: Request, _ outcome: Outcome<Answer>, _ text: ArraySlice<UInt8>, _ names: [CheckName],
        inside: (OpenedToken) -> Request, by explain: (Request) async -> Explained
    ) async -> Explained {
        let problem: Problem
        switch outcome {
        case .pending(.opening(let opening)):
            do throws(Problem) {
                let explained = await explain(inside(try await open(opening, isPaidFor: false)))
                guard case .success(var answer) = explained.answer else { return explained }
                answer.explanation = answer.explanation.concealed(inside: text)
                return Explained(answer: .success(answer), provider: explained.provider)
            } catch {
                problem = error
            }
        case .decided(.refused(.encryption(let fault), _)): problem = .encryption(fault)
        case .decided(.refused(.requestInvalid(let text), _)): problem = .requestInvalid(text)
        case .decided, .pending(.keys): return await explain(request)
        }
        // An error of the request or the instance, not of the token.
        guard case .encryption = problem else {
            return Explained(answer: .failure(problem), provider: outcome.provider)
        }
        let slot = outcome.provider.flatMap { slots[$0] }
        let answer = ExplainAnswer(
            explanation: Explanation(unopened: text, names, code: problem.code, detail: problem.detail),
            provider: slot?.policy.id, keys: await slot?.source.status(),
            time: UnixTime(seconds: SystemClocks.unixSeconds()))
        return Explained(answer: .success(answer), provider: outcome.provider)
    }
}

/// Explains opaque tokens. The provider is asked in the same cases as for the request itself.
extension RequestVerifier {
    /// - Parameter isNamed: whether the request named the provider.
    /// - Returns: with the verdict, for the checks of a policy.
    func explained(
        opaqueToken token: OpaqueToken, expecting parameters: AccessTokenParameters, isNamed: Bool,
        until deadline: MonotonicTime
    ) async -> (explained: Explained, token: AcceptedOpaqueToken?) {
        var judged: AcceptedOpaqueToken?
        do throws(Problem) {
            let question: Question
            switch token {
            case .question(let asked): question = asked
            case .refused(let problem, let provider):
                return (refused(problem, provider: provider), nil)
            }
            try question.slot.check(parameters)
            let now = VerificationTime.now()
            let answer: ExplainedAnswer
            do throws(Problem) {
                let introspection = try await self.answer(
                    to: question, timeout: deadline - now.monotonic, until: deadline
                ).get()
                switch introspection.result {
                case .success(.active(let token)): answer = .active(token.introspected)
                case .success(.inactive): throw .rejected(.tokenInactive, of: .opaqueToken)
                case .failure(let failure): throw Problem(failure)
                }
                judged = try? judge(question, introspection, expecting: parameters, now: now)
            } catch {
                answer = .none(code: error.code, Diagnosis(sentence: error.detail))
            }
            let explanation = verifier.explain(
                opaqueToken: question.text, answer, under: question.slot.policy, question.rules.dialect,
                isNamed: isNamed, expecting: parameters, now: now.wall
            ) { $0.detail(of: .opaqueToken) }
            let explained = ExplainAnswer(
                explanation: explanation, provider: question.slot.policy.id, keys: await question.slot.source.status(),
                time: now.wall)
            return (Explained(answer: .success(explained), provider: question.provider), judged)
        } catch {
            return (Explained(answer: .failure(error), provider: token.provider), nil)
        }
    }

    /// A token that is not sent to any provider.
    private func refused(_ problem: Problem, provider: Int?) -> Explained {
        let name: CheckName = if case .rejected(.tokenMalformed, _) = problem { .tokenForm } else { .provider }
        let explanation = Explanation(
            opaqueTokenRefusedAt: name, code: problem.code, Diagnosis(sentence: problem.detail))
        let answer = ExplainAnswer(
            explanation: explanation, provider: provider.flatMap { slots[$0]?.policy.id }, keys: nil,
            time: UnixTime(seconds: SystemClocks.unixSeconds()))
        return Explained(answer: .success(answer), provider: provider)
    }
}
