internal import HTTPServer
internal import JSON
private import Notifications
internal import Verification

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
