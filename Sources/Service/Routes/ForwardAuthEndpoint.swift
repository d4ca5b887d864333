private import Bytes
internal import HTTP
internal import IDToken
private import NIOCore
private import NIOHTTP1
internal import Verification

/// `/v1/forward-auth/{policy}`, which gateways call for each request that they receive.
extension ServiceResponder {
    /// Decides on the head alone, whatever its method and the rest of its path.
    ///
    /// - Throws: ``Problem/policyUnknown``.
    func decideForGateway(_ request: HTTPRequest, _ record: inout RequestRecord) throws(Problem) -> HTTPReply {
        guard let forwardAuth = service.forwardAuth, let id = Route.forwardAuthPolicy(request.head.path),
            let rule = forwardAuth.rule(named: id)
        else { throw .policyUnknown }
        record.policy = rule.policy.id
        do throws(Problem) {
            try checkCapacity(for: request, record)
        } catch {
            return .now(answer(.undecided(error, provider: nil), rule, record))
        }
        let deadline =
            SystemClocks.monotonic() + Interval(milliseconds: service.settings.forwardAuth.timeoutMilliseconds)
        do throws(Denial) {
            if rule.policy.requiresKey {
                try service.settings.callerKeys.admitGateway(request.head.fields, &record.keyName)
            }
            let fields = request.head.fields
            let line = GatewayRequestLine(
                method: request.head.methodName, pathBelowPolicy: Route.pathBelowPolicy(request.head.path))
            let askedRequest = try rule.policy.requestURL?.request(in: fields, line)
            let token = try rule.policy.token(in: fields)
            let evidence = try rule.policy.evidence(in: fields, of: askedRequest, beside: token, service.proofChecks)
            let question = Question(
                forwardAuth: forwardAuth, rule: rule, token: token, evidence: evidence, record: record,
                deadline: deadline)
            if let opaque = forwardAuth.opaqueToken(token.text, by: rule) {
                return reply(to: question, about: opaque)
            }
            let now = VerificationTime.now()
            switch forwardAuth.verify(token.text, with: evidence, by: rule, at: now) {
            case .decided(let verdict): return HTTPReply(response(to: question, with: verdict, at: now))
            case .pending(let wait):
                return .later {
                    let milliseconds = self.service.settings.forwardAuth.keysTimeoutMilliseconds
                    let keysDeadline = SystemClocks.monotonic() + Interval(milliseconds: milliseconds)
                    let verdict = await forwardAuth.verifier.verdict(after: wait, until: min(keysDeadline, deadline)) {
                        forwardAuth.verify(token.text, with: evidence, by: rule, at: $0)
                    }
                    return await self.response(to: question, with: verdict, at: .now()).value()
                }
            }
        } catch {
            if error == .requestUnknown {
                service.firstRefusals?.noteUnknownRequest(under: rule.policy)
                return .now(answer(.undecided(.requestUnknown, provider: nil), rule, record))
            }
            return .now(answer(.denied(error, provider: nil), rule, record))
        }
    }

    /// A gateway's question whose token has been read.
    private struct Question {
        let forwardAuth: ForwardAuth
        let rule: ForwardAuth.Rule
        let token: SentToken
        let evidence: BindingEvidence
        var record: RequestRecord
        /// Of the wait for keys, or for the provider's answer, and for the store of proofs.
        var deadline: MonotonicTime

        func decision(on verdict: Verdict<GatewayToken>, at now: VerificationTime) -> ForwardAuth.Decision {
            forwardAuth.decision(on: verdict, by: rule, at: now)
        }
    }

    /// Asks the provider about an opaque token, unless its answer is known.
    private func reply(to question: Question, about token: RequestVerifier.OpaqueToken) -> HTTPReply {
        let settings = service.settings
        var question = question
        question.deadline =
            SystemClocks.monotonic() + Interval(milliseconds: settings.forwardAuth.introspectionTimeoutMilliseconds)
        let verdict = question.forwardAuth.verifier.verdict(
            on: token, expecting: AccessTokenParameters(evidence: question.evidence),
            timeout: settings.providerTimeout, until: question.deadline)
        if let introspected = verdict.immediate { return HTTPReply(response(to: question, with: introspected)) }
        return .later { [question] in await self.response(to: question, with: await verdict.value()).value() }
    }

    private func response(
        to question: Question, with introspected: IntrospectedVerdict
    ) -> Reply<HTTPResponse, Never> {
        var question = question
        question.record = question.record.counting(introspected, in: service)
        return response(to: question, with: introspected.verdict.map(GatewayToken.opaque), at: .now())
    }

    /// Claims the token's proof if nothing else refuses the request, and answers: at once if the store is in memory.
    private func response(
        to question: Question, with verdict: Verdict<GatewayToken>, at now: VerificationTime
    ) -> Reply<HTTPResponse, Never> {
        guard case .verified(let token, let provider) = verdict, let proof = token.newProof,
            case .allowed = question.decision(on: verdict, at: now)
        else { return .now(answer(verdict, question, at: now)) }
        return problem(claiming: proof, ofProvider: provider, until: question.deadline).map {
            self.answer(verdict.unless($0), question, at: now)
        }
    }

    private func answer(
        _ verdict: Verdict<GatewayToken>, _ question: Question, at now: VerificationTime
    ) -> HTTPResponse {
        service.note(verdict)
        var decision = question.decision(on: verdict, at: now)
        if case .allowed(let fields, let provider) = decision, let protocols = question.token.webSocketProtocols {
            decision = .allowed(fields + [("Sec-WebSocket-Protocol", protocols)], provider: provider)
        }
        return answer(decision, question.rule, question.record, token: question.token.text)
    }

    /// - Parameter token: the request's token; `nil` if it was not read.
    private func answer(
        _ decision: ForwardAuth.Decision, _ rule: ForwardAuth.Rule, _ record: RequestRecord,
        token: ArraySlice<UInt8>? = nil
    ) -> HTTPResponse {
        let policy = rule.policy
        var headers: [(name: String, value: String)] = []
        if policy.takesProofs,
            let nonce = service.proofNonce(
                ofProvider: decision.provider, for: policy.proofUse, among: policy.providers)
        {
            headers.append(("DPoP-Nonce", nonce))
        }
        switch decision {
        case .allowed(let fields, let provider):
            count(record, "ok")
            return service.end(record, .ok, nil, provider: provider, headers: fields + headers)
        case .denied(let denial, let provider):
            count(record, denial.code)
            if let challenge = rule.challenge(for: denial, token: token, provider: provider) {
                headers.append(("WWW-Authenticate", challenge))
            }
            return service.end(
                record, HTTPResponseStatus(statusCode: denial.status), nil, code: denial.code, provider: provider,
                headers: headers)
        case .undecided(let problem, let provider):
            count(record, problem.code)
            if problem.status == 503 { return service.end(record, problem, provider: provider) }
            // Gateways know what 503 means; some let a request pass after other errors. The log has the reason.
            guard problem.status != 500 else {
                return service.end(record, .serviceUnavailable, nil, code: problem.code, provider: provider)
            }
            let told = Problem.endpointUnknown
            let body = service.json { told.write(to: &$0, requestID: record.id) }
            return service.end(
                record, told.responseStatus, "application/problem+json", body, code: problem.code, provider: provider,
                headers: told.headers)
        }
    }

    private func count(_ record: RequestRecord, _ code: String) {
        guard let policy = record.policy else { return }
        service.metrics.forwardAuth.count(.init(policy: policy, code: code))
    }
}

extension HTTPFields: RequestFields {}
