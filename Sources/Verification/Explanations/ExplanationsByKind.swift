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

/// Explanations of encrypted tokens.
extension RequestVerifier {
    /// A request for an encrypted token: opened, or why it was not.
    enum OpenedRequest<Request> {
        case plain(Request)
        case opened(Request)
        case refused(Problem, provider: Int?)
    }

    /// Opens the token of a request that is to be explained, if it is encrypted.
    ///
    /// - Parameters:
    ///   - verify: the verification of the request.
    ///   - inside: the same request for the token inside.
    func opened<Request, Answer>(
        _ request: Request, verifying verify: (VerificationTime) -> Outcome<Answer>,
        inside: (OpenedToken) -> Request
    ) async -> OpenedRequest<Request> {
        switch verify(.now()) {
        case .pending(.opening(let opening)):
            do throws(Problem) {
                return .opened(inside(try await open(opening, isPaidFor: false)))
            } catch {
                return .refused(error, provider: opening.provider)
            }
        case .decided(.refused(.encryption(let fault), let provider)):
            return .refused(.encryption(fault), provider: provider)
        case .decided(.refused(.requestInvalid(let text), let provider)):
            return .refused(.requestInvalid(text), provider: provider)
        case .decided, .pending(.keys): return .plain(request)
        }
    }

    /// Explains a request, after its token has been opened if it is encrypted.
    ///
    /// - Parameters:
    ///   - text: the token, as it was sent.
    ///   - names: the checks of its kind.
    ///   - explain: explains a request whose token is signed.
    func explained<Request>(
        _ request: OpenedRequest<Request>, _ text: ArraySlice<UInt8>, _ names: [CheckName],
        by explain: (Request) async -> Explained
    ) async -> Explained {
        switch request {
        case .plain(let request): return await explain(request)
        case .opened(let request):
            let explained = await explain(request)
            guard case .success(var answer) = explained.answer else { return explained }
            answer.explanation = answer.explanation.concealed(inside: text)
            return Explained(answer, provider: explained.provider)
        case .refused(let problem, let provider):
            // An error of the request or the instance, not of the token.
            guard case .encryption = problem else { return Explained(.failure(problem), provider: provider) }
            let slot = provider.flatMap { slots[$0] }
            let answer = ExplainAnswer(
                explanation: Explanation(unopened: text, names, code: problem.code, detail: problem.detail),
                provider: slot?.policy.id, keys: await slot?.source.status(), time: SystemClocks.unixSeconds())
            return Explained(answer, provider: provider)
        }
    }
}

/// Explains opaque tokens. The provider is asked in the same cases as for the request itself.
extension RequestVerifier {
    /// - Parameters:
    ///   - isNamed: whether the request named the provider.
    ///   - check: rejects a request that the settings don't allow.
    /// - Returns: with the verdict, for the checks of a policy.
    func explained(
        opaqueToken token: OpaqueToken, expecting parameters: AccessTokenParameters, isNamed: Bool,
        until deadline: MonotonicTime, checking check: (ProviderSlot) throws(Problem) -> Void = { _ in }
    ) async -> (explained: Explained, token: AcceptedOpaqueToken?) {
        var judged: AcceptedOpaqueToken?
        do throws(Problem) {
            let question: Question
            switch token {
            case .question(let asked): question = asked
            case .refused(let problem, let provider):
                return (refused(problem, provider: provider), nil)
            }
            try check(question.slot)
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
                isNamed: isNamed,
                expecting: parameters, now: now.wall
            ) { $0.detail(of: .opaqueToken) }
            let explained = ExplainAnswer(
                explanation: explanation, provider: question.slot.policy.id, keys: await question.slot.source.status(),
                time: now.wall.seconds)
            return (Explained(explained, provider: question.provider), judged)
        } catch {
            return (Explained(.failure(error), provider: token.provider), nil)
        }
    }

    /// A token that is not sent to any provider.
    private func refused(_ problem: Problem, provider: Int?) -> Explained {
        let name: CheckName = if case .rejected(.tokenMalformed, _) = problem { .tokenForm } else { .provider }
        let explanation = Explanation(
            opaqueTokenRefusedAt: name, code: problem.code, Diagnosis(sentence: problem.detail))
        let answer = ExplainAnswer(
            explanation: explanation, provider: provider.flatMap { slots[$0]?.policy.id }, keys: nil,
            time: SystemClocks.unixSeconds())
        return Explained(answer, provider: provider)
    }
}
