internal import HTTPServer
internal import JSON
private import Notifications
internal import Verification

/// `POST /v1/notifications/verify`.
extension ServiceResponder {
    func verifyNotification(_ body: JSONObject, _ record: RequestRecord) throws(Problem) -> HTTPReply {
        let verifier = service.verifier
        return reply(verifier.verify(try NotificationRequest(body), at: .now()), by: verifier, record) { verdict in
            self.service.metrics.countNotification(
                provider: verdict.provider, kind: verdict.answer?.notification.kind, code: verdict.code)
        }
    }
}
