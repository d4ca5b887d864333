internal import JSON

/// What a provider sends to backends after the sign-in.
extension SimulatedProvider {
    /// The body that the provider would post: Apple's JSON object, or a token for others.
    ///
    /// - Parameters:
    ///   - type: Apple's name of an event, the last part of a security event's type, or `logout`.
    ///   - claims: override the usual ones; `null` removes a claim.
    ///   - id: `jti`.
    func notification(
        _ type: String, overriding claims: [String: JSONTree], id: String, now: Int64
    ) throws -> JSONTree {
        var all: [String: JSONTree] = [
            "iss": .string(issuer), "aud": .string(audience), "iat": .integer(now), "jti": .string(id),
        ]
        var mediaType: String?
        switch (kind, type) {
        case (.apple, _):
            all["exp"] = .integer(now + 86_400)
            all["events"] = .string(text(appleEvent(type, now: now)))
        case (.google, "logout"):
            mediaType = "logout+jwt"
            all["exp"] = .integer(now + 120)
            all["sub"] = .string(subject)
            all["events"] = .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])])
        case (.google, _):
            let user: [String: JSONTree] = [
                "subject_type": .string("iss-sub"), "iss": .string(issuer), "sub": .string(subject),
            ]
            let name = "https://schemas.openid.net/secevent/risc/event-type/" + type
            all["events"] = .object([name: .object(["subject": .object(user)])])
        }
        for (name, value) in claims { all[name] = value == .null ? nil : value }
        let token = try sign(all, type: mediaType)
        return .object([kind == .apple ? "payload" : "token": .string(token)])
    }

    /// The event as JSON text, and the time in milliseconds, as Apple delivers them.
    private func appleEvent(_ type: String, now: Int64) -> [UInt8] {
        var event: [String: JSONTree] = [
            "type": .string(type), "sub": .string(subject), "event_time": .integer(now * 1000),
        ]
        if type.hasPrefix("email-") {
            event["email"] = .string("dpdcnf87nu@privaterelay.appleid.com")
            event["is_private_email"] = .string("true")
        }
        return json(.object(event))
    }
}
