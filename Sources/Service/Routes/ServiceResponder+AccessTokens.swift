internal import HTTPServer
internal import JSON
private import NIOCore
private import NIOHTTP1
internal import Verification

/// `POST /v1/access-tokens/verify`.
extension ServiceResponder {
    func verifyAccessToken(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let request = try AccessTokenRequest(body)
        let verifier = service.verifier
        switch verifier.verify(request, at: .now()) {
        case .decided(let verdict): return .now(answer(verdict, record))
        case .pending(let pending):
            return .later {
                verifier.waitForKeys(pending, until: self.keysDeadline(), on: self.service.loop).assumeIsolated()
                    .map { self.answer($0, record) }.nonisolated()
            }
        }
    }

    private func answer(_ verdict: AccessTokenVerdict, _ record: RequestRecord) -> HTTPResponse {
        switch verdict {
        case .verified(let answer, let provider):
            service.metrics.countAccessToken(provider: provider, code: "ok")
            let text = service.json { answer.write(to: &$0) }
            return service.end(record, .ok, "application/json", text, provider: provider)
        case .refused(let problem, let provider):
            service.metrics.countAccessToken(provider: provider, code: problem.code)
            return service.end(record, problem, provider: provider)
        }
    }
}
