private import Bytes
package import IDToken
package import JOSE

/// The body of `POST /v1/notifications/verify`.
package struct NotificationRequest: Sendable {
    let token: ArraySlice<UInt8>
    let provider: String?
    /// For a provider with `issuers: any`; `nil` for all others.
    let connection: Connection?
    let wasEncrypted: Bool

    /// Reads `token` or `payload`. Apple sends the body `{"payload": "…"}`: a backend may forward this body unchanged,
    /// or send it as the value of `payload`.
    ///
    /// - Parameter others: names of members that belong to something else.
    package init(_ object: JSONObject, beside others: [JSONName] = []) throws(Problem) {
        connection = try Connection(of: object, beside: Names.all + others)
        provider = try object.string(MemberNames.provider, characters: MemberBounds.provider)
        if connection == nil { try object.requireNone([MemberNames.issuer, MemberNames.audience]) }
        wasEncrypted = false
        let token = try object.text(Names.token)
        switch (token, try Self.payload(of: object)) {
        case (let token?, nil), (nil, let token?): self.token = token
        case (nil, nil), (_?, _?):
            throw .requestInvalid("The request needs either token, a string, or payload, the body that Apple sent.")
        }
    }

    /// The same request for the notification that was inside its encrypted one.
    init(_ request: NotificationRequest, inside opened: OpenedToken) {
        token = opened.content
        provider = request.provider
        connection = request.connection
        wasEncrypted = true
    }

    private static func payload(of object: JSONObject) throws(Problem) -> ArraySlice<UInt8>? {
        guard let body = object[Names.payload]?.object else { return try object.text(Names.payload) }
        guard body.count == 1, let token = try? body.utf8(Names.payload) else {
            throw .requestInvalid("payload must be a string, or the object {\"payload\": \"…\"} that Apple sent.")
        }
        return token
    }

    private enum Names {
        static let token: JSONName = "token"
        static let payload: JSONName = "payload"
        static let all = [MemberNames.provider, token, payload, MemberNames.issuer, MemberNames.audience]
    }
}

extension JSONObject {
    /// A string as UTF-8; `nil` if it is absent or `null`.
    fileprivate func text(_ name: JSONName) throws(Problem) -> ArraySlice<UInt8>? {
        do throws(JSONTypeMismatch) {
            return try utf8(name)
        } catch {
            if kind(of: name) == .null { return nil }
            throw .requestInvalid("\(name.string) must be a string.")
        }
    }
}

/// Verifies notifications. Keys and waiting work as for ID Tokens.
extension RequestVerifier {
    /// Verifies a notification: the request, the token's form, then all checks.
    package func verify(_ request: NotificationRequest, at now: VerificationTime) -> Outcome<NotificationAnswer> {
        var index = request.provider.flatMap(ofIDTokens.named)
        do throws(Problem) {
            if let named = request.provider, index == nil { throw unknownProvider(named: named) }
            if let slot = index.flatMap({ slots[$0] }), slot.provider.notifications == nil {
                throw .notificationsNotConfigured
            }
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try verifier.read(request.token)
            } catch {
                return .pending(
                    .opening(
                        try opener(index, error, of: .notification).opening(request.token) { opened, now in
                            self.verify(NotificationRequest(request, inside: opened), at: now)
                        }))
            }
            // After the issuers of all providers, the alternative ones that only notifications use.
            if index == nil, let issuer = token.unverifiedIssuer {
                index = ofIDTokens.withIssuer(issuer, slots) ?? ofNotificationIssuers[ExactString(issuer)]
            }
            guard let index, let slot = slots[index] else { throw .providerUnknown() }
            guard let rules = slot.provider.notifications else { throw .notificationsNotConfigured }
            if slot.provider.mustEncrypt(.notification), !request.wasEncrypted {
                throw .encryption(.required(.notification))
            }
            return try attempt(
                token, index, try slot.slot(for: token, request.connection, of: .notification), rules, now)
        } catch {
            return .decided(.refused(error, provider: index))
        }
    }

    /// - Throws: ``Problem/rejected(_:of:)``.
    private func attempt(
        _ token: UnverifiedToken, _ index: Int, _ slot: ProviderSlot, _ rules: NotificationRules,
        _ now: VerificationTime
    ) throws(Problem) -> Outcome<NotificationAnswer> {
        let policy = slot.policy
        let jwsVerifier = verifier.jwsVerifier
        return try attempt(token, index, slot, now, of: .notification) { () throws(Rejection) in
            try token.checkClaims(ofNotificationUnder: policy, rules, now: now.wall)
        } checkingHeader: { () throws(Rejection) in
            try jwsVerifier.checkNotificationHeader(token, allowing: policy.algorithms ?? .all)
        } verifying: { keys throws(Rejection) in
            let notification = try jwsVerifier.verifyNotification(
                token, with: keys.keys, algorithms: keys.algorithms, under: policy, rules, now: now.wall)
            return NotificationAnswer(
                provider: policy.id, notification: notification, keys: keys.used(at: now.monotonic))
        }
    }
}

/// The answer for a verified notification: who sent it, its events, and the keys that were used.
package struct NotificationAnswer: TokenAnswer {
    let provider: String
    package let notification: VerifiedNotification
    let keys: KeysUsed

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.object("notification") { json in
                json.member("provider", provider)
                json.member("issuer", notification.issuer)
                json.member("kind", notification.kind.rawValue)
                json.member("id", notification.id)
                json.member("issued_at", notification.issuedAt.seconds)
            }
            json.objects("events", notification.events) { json, event in
                json.member("type", event.type.rawValue)
                json.member("subject", event.subject)
                json.member("session_id", event.sessionID)
                json.member("email", event.email)
                json.member("is_private_email", event.isPrivateEmail)
                json.member("occurred_at", event.occurredAt?.seconds)
                json.member("reason", event.reason)
                json.name("data")
                json.raw(event.data[...])
            }
            json.name("keys")
            keys.write(to: &json)
        }
    }
}
