private import Bytes
internal import JOSE

/// Reads members of an event, and tracks which have not been read.
///
/// Members are only descriptive: one of an unexpected type is no error, but stays in the data.
private struct EventReader {
    private let event: JSONObject
    private var taken: [JSONName] = []
    private var added: [(name: JSONName, value: JSONValue)] = []

    init(_ event: JSONObject) { self.event = event }

    mutating func string(_ name: JSONName) -> String? { take(name) { $0.string } }

    /// A boolean in any of the forms that providers send.
    mutating func bool(_ name: JSONName) -> Bool? {
        take(name) { value in
            if let bool = value.bool { return bool }
            switch value.string {
            case "true": return true
            case "false": return false
            default: return nil
            }
        }
    }

    /// A time, in seconds or milliseconds since 1970.
    mutating func time(_ name: JSONName) -> UnixTime? {
        take(name) { value in
            guard let time = UnixTime(numericDate: value) else { return nil }
            // 10^11 seconds after 1970 is in the year 5138; 10^11 milliseconds is in 1973.
            return time.seconds >= 100_000_000_000 ? UnixTime(seconds: time.seconds / 1000) : time
        }
    }

    private mutating func take<Value>(_ name: JSONName, as read: (JSONValue) -> Value?) -> Value? {
        guard let value = event[name], let result = read(value) else { return nil }
        take(name)
        return result
    }

    /// Leaves members out of ``rest``.
    mutating func take(_ names: JSONName...) { taken += names }

    /// Adds a member from elsewhere to the data, unless the event has one of that name.
    mutating func add(_ name: JSONName, _ value: JSONValue) {
        if event[name] == nil { added.append((name, value)) }
    }

    /// Whether every member has been read.
    var isEmpty: Bool { event.hasOnly(taken) }

    /// The members that have not been read, as a JSON object.
    var rest: [UInt8] { object { !taken.map(\.string).containsExactly($0) } }

    /// The whole event.
    var everything: [UInt8] { object { _ in true } }

    /// The whole event, as the only member of an object.
    func everything(of name: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name(escaping: name)
            json.raw(everything[...])
        }
        return json.bytes
    }

    private func object(_ isWritten: (String) -> Bool) -> [UInt8] {
        var members: [NamedValue] = added.map { ($0.name.string, $0.value) }
        event.forEachMember { name, value in if isWritten(name) { members.append((name, value)) } }
        var json = JSONWriter()
        json.object { json in
            for member in members {
                json.name(escaping: member.name)
                json.value(copying: member.value)
            }
        }
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes a value as it was written in its text.
    fileprivate mutating func value(copying value: JSONValue) {
        let quote = UInt8(ascii: "\"")
        raw(value.kind == .string ? [quote] + value.json + [quote] : value.json)
    }
}

/// Names of members in events.
private enum EventNames {
    static let type: JSONName = "type"
    static let sub: JSONName = "sub"
    static let email: JSONName = "email"
    static let isPrivateEmail: JSONName = "is_private_email"
    static let eventTime: JSONName = "event_time"
    static let eventTimestamp: JSONName = "event_timestamp"
    static let reason: JSONName = "reason"
    static let subject: JSONName = "subject"
    static let subID: JSONName = "sub_id"
    static let format: JSONName = "format"
    static let subjectType: JSONName = "subject_type"
    // RFC 8417, section 2.2.
    static let timeOfEvent = ClaimName("toe")
}

/// A member of `events` that is an object: an event, named by its type.
typealias NamedEvent = (type: String, event: JSONObject)
/// Any other member.
typealias NamedValue = (name: String, value: JSONValue)

/// The `events` claim. Its form distinguishes the kinds of notifications.
enum EventsClaim {
    /// The one event of a notification from Apple.
    case apple(JSONObject)
    /// The event of a logout token, the other events, and the members that are no events.
    case logout(JSONObject, others: [NamedEvent], members: [NamedValue])
    /// Events by their type, a URI, in the order of the token.
    case securityEvents([NamedEvent])

    var kind: NotificationKind {
        switch self {
        case .apple: .apple
        case .logout: .logout
        case .securityEvents: .securityEvent
        }
    }

    static let logoutType: JSONName = "http://schemas.openid.net/event/backchannel-logout"

    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    init(_ claims: Claims) throws(Rejection) {
        guard let value = claims.object[ClaimName.events.json], value.kind != .null else {
            throw .claimMissing(.events)
        }
        guard let claim = EventsClaim(value) else { throw .claimInvalid(.events) }
        self = claim
    }

    private init?(_ value: JSONValue) {
        // Apple's documentation shows an object. Apple delivers the object's JSON text, as a string.
        if let text = value.utf8 {
            guard let event = try? JSONObject(text) else { return nil }
            self = .apple(event)
        } else if let elements = value.elements {
            guard elements.count == 1, let event = elements[0].object else { return nil }
            self = .apple(event)
        } else if let object = value.object {
            self.init(object)
        } else {
            return nil
        }
    }

    private init?(_ object: JSONObject) {
        if object.kind(of: "type") != nil {
            self = .apple(object)
        } else if let logout = object[Self.logoutType] {
            guard let event = logout.object, let (events, members) = Self.members(of: object) else { return nil }
            let others = events.filter { !$0.type.isExactly(Self.logoutType.string) }
            self = .logout(event, others: others, members: members)
        } else {
            // Each member is an event (RFC 8417, section 2.2).
            guard let (events, members) = Self.members(of: object), members.isEmpty else { return nil }
            self = .securityEvents(events)
        }
    }

    /// The members of the claim: events, and others. `nil` if there are none, or too many.
    private static func members(of object: JSONObject) -> (events: [NamedEvent], others: [NamedValue])? {
        guard (1...NotificationKind.maximumEvents).contains(object.count) else { return nil }
        var events: [NamedEvent] = []
        var others: [NamedValue] = []
        object.forEachMember { name, value in
            if let event = value.object { events.append((name, event)) } else { others.append((name, value)) }
        }
        return (events, others)
    }

    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    func events(
        _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
    ) throws(Rejection) -> [NotifiedEvent] {
        switch self {
        case .apple(let event): return [try NotifiedEvent(apple: event)]
        case .logout(let event, let others, let members):
            let logout = try NotifiedEvent(logout: event, members, claims)
            return [logout] + Self.securityEvents(others, claims, policy, rules)
        case .securityEvents(let events):
            return Self.securityEvents(events, claims, policy, rules)
        }
    }

    private static func securityEvents(
        _ events: [NamedEvent], _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
    ) -> [NotifiedEvent] {
        let issuer = claims.text(.issuer)
        // Accepts the token's own issuer, and any other spelling of the provider's. If each tenant has an issuer of its
        // own, subjects differ by tenant, so only the token's own issuer is accepted.
        func isOwn(_ named: String) -> Bool {
            if let issuer, issuer.isExactly(named) { return true }
            return !policy.hasTemplateIssuer && (policy.isIssuer(named) || rules.issuers.containsExactly(named))
        }
        return events.map { NotifiedEvent(security: $0.event, named: $0.type, claims, isOwnIssuer: isOwn) }
    }
}

extension NotifiedEvent {
    /// Reads the event of a server-to-server notification from Apple.
    ///
    /// - Throws: ``Rejection/claimInvalid(_:)``.
    /// - Source: developer.apple.com/documentation/signinwithapple, "Processing changes for Sign in with Apple
    ///   accounts".
    fileprivate init(apple event: JSONObject) throws(Rejection) {
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

    /// Reads the event of a logout token.
    ///
    /// - Parameter members: what `events` has beside events. Recipients ignore what they don't know, so it is passed on.
    /// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
    /// - Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6.
    fileprivate init(logout event: JSONObject, _ members: [NamedValue], _ claims: Claims) throws(Rejection) {
        var reader = EventReader(event)
        for (name, value) in members { reader.add(JSONName(name), value) }
        let subject = try claims.string(.subject)
        let session = try claims.string(.sessionID)
        self.init(type: .loggedOut, data: reader.everything)
        self.subject = subject?.isEmpty == true ? nil : subject
        sessionID = session?.isEmpty == true ? nil : session
        if self.subject == nil, sessionID == nil { throw .claimMissing(.subject) }
    }

    /// Reads one event of a security event token.
    ///
    /// - Parameters:
    ///   - name: the event's type, a URI.
    ///   - claims: the token's claims, which may name the user for all events.
    ///   - isOwnIssuer: whether an issuer is the token's own, or another spelling of the provider's.
    /// - Source: RFC 8417; RFC 9493; OpenID RISC Profile 1.0; OpenID CAEP 1.0;
    ///   developers.google.com/identity/protocols/risc.
    fileprivate init(
        security event: JSONObject, named name: String, _ claims: Claims, isOwnIssuer: (String) -> Bool
    ) {
        var reader = EventReader(event)
        self.init(type: .other, data: [])
        if let value = event[EventNames.subject] {
            if read(value, isOwnIssuer) { reader.take(EventNames.subject) }
        } else if let value = claims.object[EventNames.subID] {
            // Members that are not read stay in the data.
            if !read(value, isOwnIssuer) { reader.add(EventNames.subID, value) }
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
    private mutating func read(_ value: JSONValue, _ isOwnIssuer: (String) -> Bool) -> Bool {
        guard let identifier = value.object else { return false }
        var reader = EventReader(identifier)
        // Google's `subject_type` is older than `format`.
        let format = reader.string(EventNames.format) ?? reader.string(EventNames.subjectType)
        switch format {
        case "iss_sub", "iss-sub", "id_token_claims":
            let named = reader.string("iss")
            guard named.map(isOwnIssuer) ?? (identifier.kind(of: "iss") == nil) else { return false }
            subject = reader.string("sub")
            email = reader.string(EventNames.email)
        case "email":
            email = reader.string(EventNames.email)
        case "complex", nil:
            // A user and a session, each with an identifier of its own.
            guard let user = identifier["user"], read(user, isOwnIssuer) else { return false }
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
