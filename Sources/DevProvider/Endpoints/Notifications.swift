internal import JOSE

/// The notifications that a provider sends to backends after sign-in.
extension EmulatedProvider {
    /// A notification, with the body that the provider posts.
    struct Notification {
        /// The member of a `/v1/notifications/verify` request that carries it: `payload` or `token`.
        let member: String
        let token: String
        let contentType: String
        let body: [UInt8]
    }

    /// The types that the page offers.
    var notificationTypes: [String] {
        switch dialect.events {
        case .apple: ["consent-revoked", "account-deleted", "email-disabled", "email-enabled"]
        case .securityEvent: ["logout", "sessions-revoked", "account-disabled", "account-enabled", "account-purged"]
        }
    }

    /// - Parameters:
    ///   - type: Apple's name for an event, the last part of a security event's type, or `logout`.
    ///   - claims: override the usual ones; `null` removes a claim.
    ///   - id: `jti`.
    func notification(
        _ type: String, about person: Person, clientID: String?, overriding claims: [String: JSONTree], id: String,
        now: Int64
    ) throws -> Notification {
        let subject = JSONTree.string(try subject(of: person))
        var all: [String: JSONTree] = [
            "iss": .string(issuer(of: person)), "iat": .integer(now), "jti": .string(id),
        ]
        if let client = clientID ?? audiences.first { all["aud"] = .string(client) }
        var mediaType: String?
        switch (dialect.events, type) {
        case (.apple, _):
            all["exp"] = .integer(now + 86_400)
            all["events"] = .string(String(decoding: try appleEvent(type, person, now: now).json, as: UTF8.self))
        case (.securityEvent, "logout"):
            mediaType = "logout+jwt"
            all["exp"] = .integer(now + 120)
            all["sub"] = subject
            all["events"] = .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])])
        case (.securityEvent, _):
            let user: [String: JSONTree] = [
                "subject_type": .string("iss-sub"), "iss": .string(issuer(of: person)), "sub": subject,
            ]
            let name = "https://schemas.openid.net/secevent/risc/event-type/" + type
            all["events"] = .object([name: .object(["subject": .object(user)])])
        }
        for (name, value) in claims { all[name] = value == .null ? nil : value }
        return delivered(
            try sealed(try keys.sign(all, type: mediaType), as: .notification), isLogout: mediaType != nil)
    }

    private func delivered(_ token: String, isLogout: Bool) -> Notification {
        switch dialect.events {
        case .apple:
            Notification(
                member: "payload", token: token, contentType: "application/json",
                body: JSONTree.object(["payload": .string(token)]).json)
        case .securityEvent where isLogout:
            Notification(
                member: "token", token: token, contentType: "application/x-www-form-urlencoded",
                body: Array("logout_token=\(token)".utf8))
        case .securityEvent:
            Notification(
                member: "token", token: token, contentType: "application/secevent+jwt", body: Array(token.utf8))
        }
    }

    /// The event as JSON text, and the time in milliseconds, as Apple delivers them.
    private func appleEvent(_ type: String, _ person: Person, now: Int64) throws -> JSONTree {
        var event: [String: JSONTree] = [
            "type": .string(type), "sub": .string(try subject(of: person)), "event_time": .integer(now * 1000),
        ]
        if type.hasPrefix("email-") {
            event["email"] = try userClaims(of: person, scopes: ["email"])["email"]
            event["is_private_email"] = .string("true")
        }
        return .object(event)
    }
}
