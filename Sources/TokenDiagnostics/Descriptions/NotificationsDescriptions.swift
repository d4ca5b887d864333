internal import IDToken
private import JOSE

/// The checks that differ between notifications and ID Tokens.
extension CheckDescriptions {
    /// Describes a check of a notification; `nil` if the description is the same for an ID Token.
    func notificationCheck(_ name: CheckName, _ rejection: Rejection?, _ rules: NotificationRules) -> Check? {
        switch name {
        case .header: notificationType(rejection)
        case .audience: notificationAudience(rejection)
        case .events: notificationEvents(rejection, rules)
        case .tokenAge: notificationAge(rejection, rules)
        case .tokenID: notificationID(rejection)
        case .nonce: noNonce(rejection)
        case .subject: notificationSubject(rejection)
        default: nil
        }
    }

    private func notificationType(_ rejection: Rejection?) -> Check {
        .checked(
            .header, rejection, passed: "The header can be that of a notification.",
            failed: Diagnosis(
                "The header has the typ of another kind of token, or a parameter that is not supported (crit, b64 or zip).",
                fix: Self.sendNotification),
            expected: expectedHeader("logout+jwt, secevent+jwt, JWT or none"), found: foundHeader)
    }

    private func notificationAudience(_ rejection: Rejection?) -> Check {
        let found = claims.texts(.audience)
        return made(
            .audience, rejection, passed: "The notification is for this app.",
            failed: Diagnosis(
                "The notification is for \(Redaction.list(found)), but \(policy.audienceOwner) has other audiences.",
                fix: "If it is your client ID, \(policy.audienceAdvice)."),
            expected: expectedAudience, found: found.isEmpty ? nil : Redaction.list(found))
    }

    private func notificationEvents(_ rejection: Rejection?, _ rules: NotificationRules) -> Check {
        let kind = NotificationKind(of: claims)
        let accepted = rules.kinds.map(\.rawValue).joined(separator: ", ")
        let diagnosis: Diagnosis =
            switch (rejection, kind) {
            case (.claimMissing, _):
                Diagnosis("The token has no events, so it is no notification.", fix: Self.sendNotification)
            case (_, nil):
                Diagnosis(
                    """
                    The token's events have none of the known forms: one Apple event, the event of a logout token, \
                    or up to \(NotificationKind.maximumEvents) security events that are JSON objects.
                    """,
                    fix: "Check that the provider sent it, and that nothing changed it.")
            case (.headerUnsupported, let kind?):
                Diagnosis(
                    "The header declares one kind of notification, but the events have the form of another: \(kind.rawValue).",
                    fix: "Report it to the provider.")
            case (_, let kind?):
                Diagnosis(
                    """
                    The notification is of the kind \(kind.rawValue), which notifications of the provider \
                    \(policy.id) does not list.
                    """,
                    fix: "If you process such notifications, add \(kind.rawValue) to notifications.")
            }
        return .checked(
            .events, rejection, passed: "The notification is of an accepted kind: \(kind?.rawValue ?? "").",
            failed: diagnosis, expected: accepted, found: kind?.rawValue)
    }

    private func notificationAge(_ rejection: Rejection?, _ rules: NotificationRules) -> Check {
        let age = ((try? claims.time(.issuedAt)) ?? nil).map { Redaction.duration(now.seconds(since: $0)) }
        return made(
            .tokenAge, rejection, passed: "The notification is not too old.",
            failed: Diagnosis(
                """
                The notification was issued \(age ?? "too long") ago, but notifications_max_age of the provider \
                \(policy.id) is \(rules.maximumAgeSeconds) s.
                """,
                fix: "Verify notifications on arrival, or raise notifications_max_age if deliveries may take longer."),
            expected: "at most \(rules.maximumAgeSeconds) s, plus \(policy.clockSkewSeconds) s of clock_skew",
            found: age)
    }

    private func notificationID(_ rejection: Rejection?) -> Check {
        made(
            .tokenID, rejection, passed: "The notification has an ID, by which repeated deliveries are recognized.",
            failed: Diagnosis("The notification's jti is empty."), expected: "jti", found: fingerprint(of: .tokenID))
    }

    private func noNonce(_ rejection: Rejection?) -> Check {
        .checked(
            .nonce, rejection, passed: "The notification has no nonce, which notifications must not have.",
            failed: Diagnosis(
                "The token has a nonce, which notifications must not have: it may be an ID Token.",
                fix: Self.sendNotification),
            expected: "no nonce", found: rejection == nil ? nil : "a nonce")
    }

    private func notificationSubject(_ rejection: Rejection?) -> Check {
        .checked(
            .subject, rejection, passed: "The events can be read.",
            failed: rejection == .claimInvalid(.events)
                ? Diagnosis(
                    "Apple's event has no type or no sub, or one of them is not a string.", fix: "Report it to Apple.")
                : Diagnosis(
                    "The logout token has neither sub nor sid, or one of them is not a string, so it does not say whose session ended.",
                    fix: "Have the provider add one of them, as a string."),
            expected: nil, found: fingerprint(of: .subject))
    }

    private static let sendNotification =
        "Send the message that the provider posted to your notification URL: the value of logout_token or payload, or the whole body of a security event."
}

extension Diagnosis {
    /// The diagnosis for a notification that was sent as another kind of token.
    static func notification(_ token: UnverifiedToken) -> Diagnosis {
        let name =
            switch NotificationKind(of: token.claims) {
            case .logout: "a logout token"
            case .apple: "an Apple notification"
            case .securityEvent: "a security event"
            case nil: "a notification"
            }
        return Diagnosis(
            "The token is \(name), not a token of a sign-in: it has events.",
            fix: """
                Send it to POST /v1/notifications/verify. To see whether it passes there, explain it as a notification \
                ("as": "notification").
                """)
    }
}
