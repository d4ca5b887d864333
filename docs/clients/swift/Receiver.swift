import AssayClient
import Foundation

/// Receives notifications from providers: Apple's, logout tokens and security events, all at one URL.
public struct Receiver: Sendable {
    let assay: Assay
    /// Acts on a notification's events unless it has done so before. In one transaction: insert `provider` and `id` into
    /// `notifications`; if they were there already, do nothing; otherwise act on each event.
    let once: @Sendable (VerifiedNotification) async throws -> Void

    /// Returns the status for the response to the sender. Assay's log has the reason for a refusal.
    ///
    /// - Throws: What `once` throws; answer with 500. The sender tries again, and nothing is marked as processed.
    public func receive(contentType: String, body: String) async throws -> Int {
        let verified: VerifiedNotification
        do {
            guard let found = try await verify(contentType, body) else { return 400 }
            verified = found
        } catch let error as AssayError {
            // 503: the sender tries again later. 400: that would not help, because it would be refused again.
            return error.mayRetry ? 503 : [400, 404, 422].contains(error.status) ? 400 : 500
        }
        try await once(verified)
        return 200
    }

    /// `nil` if it is not a notification.
    private func verify(_ contentType: String, _ body: String) async throws -> VerifiedNotification? {
        switch contentType.prefix(while: { $0 != ";" }).lowercased() {
        case "application/x-www-form-urlencoded":
            var form = URLComponents()
            form.percentEncodedQuery = body
            guard let token = form.queryItems?.first(where: { $0.name == "logout_token" })?.value else { return nil }
            return try await assay.verifyNotification(token)
        case "application/secevent+jwt":
            return try await assay.verifyNotification(body.trimmingCharacters(in: .whitespacesAndNewlines))
        default:
            guard let sent = try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8)) else { return nil }
            return try await assay.verifyAppleNotification(sent)
        }
    }
}
