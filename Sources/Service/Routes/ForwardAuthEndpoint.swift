private import Bytes
internal import HTTP
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
            return .now(answer(.undecided(error, provider: nil), record))
        }
        do throws(Denial) {
            if rule.policy.requiresKey {
                try service.settings.callerKeys.admitGateway(request.head.fields, &record.keyName)
            }
            let token = try rule.policy.token(in: request.head.fields)
            let started = record
            func answer(
                _ verdict: Verdict<GatewayToken>, at now: VerificationTime, _ record: RequestRecord? = nil
            ) -> HTTPResponse {
                service.note(verdict)
                return self.answer(forwardAuth.decision(on: verdict, by: rule, at: now), record ?? started)
            }
            if let opaque = forwardAuth.opaqueToken(token, by: rule) {
                return .later {
                    let settings = self.service.settings
                    let milliseconds = settings.forwardAuth.introspectionTimeoutMilliseconds
                    let introspected = await forwardAuth.verdict(
                        on: opaque, timeout: settings.providerTimeout,
                        until: SystemClocks.monotonic() + Interval(milliseconds: milliseconds))
                    return answer(
                        introspected.verdict, at: .now(), started.counting(introspected, in: self.service))
                }
            }
            let now = VerificationTime.now()
            switch forwardAuth.verify(token, by: rule, at: now) {
            case .decided(let verdict): return .now(answer(verdict, at: now))
            case .pending(let wait):
                return .later {
                    let milliseconds = self.service.settings.forwardAuth.keysTimeoutMilliseconds
                    let deadline = SystemClocks.monotonic() + Interval(milliseconds: milliseconds)
                    let verdict = await forwardAuth.verifier.verdict(after: wait, until: deadline) {
                        forwardAuth.verify(token, by: rule, at: $0)
                    }
                    return answer(verdict, at: .now())
                }
            }
        } catch {
            return .now(answer(.denied(error, provider: nil), record))
        }
    }

    private func answer(_ decision: ForwardAuth.Decision, _ record: RequestRecord) -> HTTPResponse {
        switch decision {
        case .allowed(let fields, let provider):
            count(record, "ok")
            return service.end(record, .ok, nil, provider: provider, headers: fields)
        case .denied(let denial, let provider):
            count(record, denial.code)
            let challenge = denial.challenge.map { [("WWW-Authenticate", $0)] } ?? []
            return service.end(
                record, HTTPResponseStatus(statusCode: denial.status), nil, code: denial.code, provider: provider,
                headers: challenge)
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
        service.metrics.countForwardAuth(policy: policy, code: code)
    }
}

extension HTTPFields: RequestFields {}
