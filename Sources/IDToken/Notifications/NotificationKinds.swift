internal import JOSE

extension NotifiedEvent {
    /// Reads the event of a server-to-server notification from Apple.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    /// - Source: developer.apple.com/documentation/signinwithapple, "Processing changes for Sign in with Apple
    ///   accounts".
    init(apple event: JSONObject) throws(Rejection) {
        guard let type = try? event.string(EventNames.type), let subject = try? event.string(EventNames.sub),
            !type.isEmpty, !subject.isEmpty
        else { throw .claimInvalid(.events) }
        var reader = EventReader(event)
        self.init(type: EventType(apple: type), data: [])
        self.subject = subject
        email = reader.string(EventNames.email)
        isPrivateEmail = reader.bool(EventNames.isPrivateEmail)
        occurredAt = reader.time(EventNames.eventTime)
        reader.take(EventNames.type, EventNames.sub)
        data = self.type == .other ? reader.everything : reader.rest
    }
}

extension NotifiedEvent.EventType {
    fileprivate init(apple type: String) {
        self =
            switch type {
            case "consent-revoked": .consentRevoked
            // Deliveries and older documentation have the first spelling, Apple's current page the second.
            case "account-delete", "account-deleted": .accountDeleted
            case "email-disabled": .emailRelayDisabled
            case "email-enabled": .emailRelayEnabled
            default: .other
            }
    }
}

extension NotifiedEvent {
    /// Reads the event of a logout token.
    ///
    /// - Parameter members: what `events` has beside events. Recipients ignore what they don't know, so it is passed on.
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    /// - Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6.
    init(
        logout event: JSONObject, _ members: [(name: String, value: JSONValue)], _ claims: Claims
    ) throws(Rejection) {
        var reader = EventReader(event)
        for (name, value) in members { reader.add(JSONName(name), value) }
        let subject = try claims.string(.subject)
        let session = try claims.string(.sessionID)
        self.init(type: .loggedOut, data: reader.everything)
        self.subject = subject?.isEmpty == true ? nil : subject
        sessionID = session?.isEmpty == true ? nil : session
        if self.subject == nil, sessionID == nil { throw .claimMissing(.subject) }
    }
}

extension NotifiedEvent {
    /// Reads one event of a security event token.
    ///
    /// - Parameters:
    ///   - name: the event's type, a URI.
    ///   - claims: the token's claims, which may name the user for all events.
    ///   - issuer: tells whether an issuer is the token's own.
    /// - Source: RFC 8417; RFC 9493; OpenID RISC Profile 1.0; OpenID CAEP 1.0;
    ///   developers.google.com/identity/protocols/risc.
    init(security event: JSONObject, named name: String, _ claims: Claims, issuer: OwnIssuer) {
        var reader = EventReader(event)
        self.init(type: .other, data: [])
        if let value = event[EventNames.subject] {
            if read(value, issuer) { reader.take(EventNames.subject) }
        } else if let value = claims.object[EventNames.subID] {
            // Members that are not read stay in the data.
            if !read(value, issuer) { reader.add(EventNames.subID, value) }
        } else {
            subject = claims.text(.subject).flatMap { $0.isEmpty ? nil : $0 }
        }
        sessionID = sessionID ?? claims.text(.sessionID)
        occurredAt = reader.time(EventNames.eventTimestamp) ?? (try? claims.time(EventNames.timeOfEvent)) ?? nil
        reason = reader.string(EventNames.reason)
        type = EventType(security: name, ofSession: sessionID != nil)
        data = type == .other ? reader.everything(of: name) : reader.rest
    }

    /// Reads a subject identifier (RFC 9493, or an older form of it).
    ///
    /// - Returns: whether everything in it was read.
    private mutating func read(_ value: JSONValue, _ issuer: OwnIssuer) -> Bool {
        guard let identifier = value.object else { return false }
        var reader = EventReader(identifier)
        // Google's `subject_type` is older than `format`.
        let format = reader.string(EventNames.format) ?? reader.string(EventNames.subjectType)
        switch format {
        case "iss_sub", "iss-sub", "id_token_claims":
            let named = reader.string("iss")
            guard named.map(issuer.isOwn) ?? (identifier.kind(of: "iss") == nil) else { return false }
            subject = reader.string("sub")
            email = reader.string(EventNames.email)
        case "email":
            email = reader.string(EventNames.email)
        case "complex", nil:
            // A user and a session, each with an identifier of its own.
            guard let user = identifier["user"], read(user, issuer) else { return false }
            reader.take("user")
            if let session = identifier["session"]?.object, let id = try? session.string("id") {
                sessionID = id
                reader.take("session")
            }
        default: return false
        }
        return reader.isEmpty
    }
}

/// Recognizes the token's own issuer in a subject identifier.
struct OwnIssuer {
    let isOwn: (String) -> Bool
}

extension NotifiedEvent.EventType {
    /// - Parameter ofSession: whether the event names a session.
    fileprivate init(security name: String, ofSession: Bool) {
        let prefix = "https://schemas.openid.net/secevent/"
        guard name.hasPrefix(prefix) else {
            self = .other
            return
        }
        self =
            switch name.dropFirst(prefix.count) {
            case "risc/event-type/account-purged": .accountDeleted
            case "risc/event-type/sessions-revoked": .sessionsRevoked
            case "caep/event-type/session-revoked": ofSession ? .loggedOut : .sessionsRevoked
            case "oauth/event-type/token-revoked", "oauth/event-type/tokens-revoked": .tokensRevoked
            case "risc/event-type/account-disabled": .accountDisabled
            case "risc/event-type/account-enabled": .accountEnabled
            case "risc/event-type/account-credential-change-required", "risc/event-type/credential-compromise":
                .credentialChangeRequired
            case "risc/event-type/identifier-changed": .identifierChanged
            case "risc/event-type/identifier-recycled": .identifierRecycled
            case "risc/event-type/verification", "ssf/event-type/verification": .verification
            default: .other
            }
    }
}
