internal import HTTP
private import IDToken
internal import JOSE
private import NIOCore
private import NIOHTTP1
internal import Verification

/// Responses to requests that verify one token.
extension ServiceResponder {
    /// Verifies a token, after waiting for keys if the verdict depends on them, and responds.
    ///
    /// - Parameter count: counts the verdict.
    func reply<Answer: TokenAnswer>(
        by verifier: RequestVerifier, _ record: RequestRecord,
        verifying verify: @escaping (VerificationTime) -> RequestVerifier.Outcome<Answer>,
        counting count: @escaping (Verdict<Answer>) -> Void
    ) -> HTTPReply {
        func response(to verdict: Verdict<Answer>) -> HTTPResponse {
            count(verdict)
            return self.response(to: verdict, record)
        }
        switch verify(.now()) {
        case .decided(let verdict): return .now(response(to: verdict))
        case .pending(let wait):
            return .later {
                response(
                    to: await verifier.verdict(after: wait, until: self.keysDeadline(), verifyingAgain: verify))
            }
        }
    }

    /// - Parameter challenge: how to answer the API's client; `nil` unless the request named a resource.
    @inline(__always)
    func response<Answer: TokenAnswer>(
        to verdict: Verdict<Answer>, _ record: RequestRecord, challenge: Challenge? = nil
    ) -> HTTPResponse {
        switch verdict {
        case .verified(let answer, let provider):
            let text = service.json { answer.write(to: &$0) }
            return service.end(record, .ok, "application/json", text, provider: provider)
        case .refused(let problem, let provider):
            return service.end(record, problem, provider: provider, challenge: challenge)
        }
    }
}

/// `POST /v1/access-tokens/verify`.
extension ServiceResponder {
    func verifyAccessToken(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        let proofs = service.settings.proofs
        let request = try AccessTokenRequest(body, proofs)
        func answer(_ verdict: Verdict<AccessTokenAnswer>) -> HTTPResponse {
            service.note(verdict)
            service.metrics.countAccessToken(provider: verdict.provider, code: verdict.code)
            let challenge = verifier.challenge(to: request, verdict.problem, provider: verdict.provider, proofs)
            return response(to: verdict, record, challenge: challenge)
        }
        switch verifier.verify(request, at: .now()) {
        case .decided(let verdict):
            guard newProof(in: verdict) != nil else { return .now(answer(verdict)) }
            // Claims only after the wait has been admitted: a request that is shed must not use up a proof.
            return .later { answer(await self.claimingProof(of: verdict)) }
        case .pending(let wait):
            return .later {
                let verdict = await verifier.verdict(after: wait, until: self.keysDeadline()) {
                    verifier.verify(request, at: $0)
                }
                return answer(await self.claimingProof(of: verdict))
            }
        }
    }
}

/// `POST /v1/notifications/verify`.
extension ServiceResponder {
    func verifyNotification(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        let request = try NotificationRequest(body)
        return reply(by: verifier, record) {
            verifier.verify(request, at: $0)
        } counting: { verdict in
            self.service.metrics.countNotification(
                provider: verdict.provider, kind: verdict.answer?.notification.kind, code: verdict.code)
        }
    }
}
