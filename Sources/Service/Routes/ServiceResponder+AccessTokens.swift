internal import HTTPServer
internal import JSON
internal import Verification

/// `POST /v1/access-tokens/verify`.
extension ServiceResponder {
    func verifyAccessToken(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        return reply(verifier.verify(try AccessTokenRequest(body), at: .now()), by: verifier, record) { verdict in
            self.service.metrics.countAccessToken(provider: verdict.provider, code: verdict.code)
        }
    }
}
