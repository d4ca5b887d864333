internal import HTTPServer
internal import JSON
internal import Verification

/// `POST /v1/access-tokens/verify`.
extension ServiceResponder {
    func verifyAccessToken(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        let request = try AccessTokenRequest(body)
        return reply(by: verifier, record) {
            verifier.verify(request, at: $0)
        } counting: { verdict in
            self.service.note(verdict)
            self.service.metrics.countAccessToken(provider: verdict.provider, code: verdict.code)
        }
    }
}
