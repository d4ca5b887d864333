private import Bytes
internal import IDToken
internal import JSON

/// The `events` claim. Its form distinguishes the kinds of notifications.
enum EventsClaim {
    /// The one event of a notification from Apple.
    case apple(JSONObject)
    /// The event of a logout token, the other events, and the members that are no events.
    case logout(
        JSONObject, others: [(type: String, event: JSONObject)], members: [(name: String, value: JSONValue)])
    /// Events by their type, a URI, in the order of the token.
    case securityEvents([(type: String, event: JSONObject)])

    var kind: NotificationKind {
        switch self {
        case .apple: .apple
        case .logout: .logout
        case .securityEvents: .securityEvent
        }
    }

    /// The maximum number of events in one token.
    static let maximumEvents = 16

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
    private static func members(
        of object: JSONObject
    ) -> (events: [(type: String, event: JSONObject)], others: [(name: String, value: JSONValue)])? {
        guard (1...maximumEvents).contains(object.count) else { return nil }
        var events: [(type: String, event: JSONObject)] = []
        var others: [(name: String, value: JSONValue)] = []
        object.forEachMember { name, value in
            if let event = value.object { events.append((name, event)) } else { others.append((name, value)) }
        }
        return (events, others)
    }
}
