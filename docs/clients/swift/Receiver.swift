import Foundation

/// Receives notifications from providers: Apple's, logout tokens and security events, all at one URL.
public struct Receiver: Sendable {
    let assay: Assay
    /// Acts on a notification's events unless it has done so before. In one transaction: insert `provider` and `id` into
    /// `notifications`; if they were there already, do nothing; otherwise act on each event.
    let once: @Sendable (Notification) async throws -> Void

    /// Returns the status for the response to the sender. Assay's log has the reason for a refusal.
    ///
    /// - Throws: What `once` throws; answer with 500. The sender tries again, and nothing is marked as processed.
    public func receive(contentType: String, body: String) async throws -> Int {
        guard let sent = message(contentType, body) else { return 400 }
        let notification: Notification
        do {
            notification = try await assay.notification(sent)
        } catch let error as AssayError {
            switch error.status {
            // The sender tries again later.
            case 0, 503: return 503
            // Another delivery would not help.
            case 400, 404, 422: return 400
            default: return 500
            }
        }
        try await once(notification)
        return 200
    }

    /// The request for Assay; `nil` if it is not a notification.
    private func message(_ contentType: String, _ body: String) -> NotificationRequest? {
        switch contentType.prefix(while: { $0 != ";" }).lowercased() {
        case "application/x-www-form-urlencoded":
            var form = URLComponents()
            form.percentEncodedQuery = body
            let token = form.queryItems?.first { $0.name == "logout_token" }?.value
            return token.map { NotificationRequest(token: $0) }
        case "application/secevent+jwt":
            return NotificationRequest(token: body.trimmingCharacters(in: .whitespacesAndNewlines))
        default:
            let apple = try? JSONDecoder().decode(ApplePayload.self, from: Data(body.utf8))
            return apple.map { NotificationRequest(payload: $0.payload) }
        }
    }
}

private struct ApplePayload: Decodable {
    let payload: String
}
