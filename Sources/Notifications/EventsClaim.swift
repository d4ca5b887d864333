private import Bytes
internal import IDToken
internal import JSON

/// The `events` claim. Its form distinguishes the kinds of notifications.
enum EventsClaim {
    /// The one event of a notification from Apple.
    case apple(JSONObject)
    /// The event of a logout token, and its other events.
    case logout(JSONObject, others: [(type: String, event: JSONObject)])
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
            guard let event = logout.object, let events = Self.events(object) else { return nil }
            self = .logout(event, others: events.filter { !$0.type.isExactly(Self.logoutType.string) })
        } else {
            guard let events = Self.events(object) else { return nil }
            self = .securityEvents(events)
        }
    }

    /// The members of the claim, each of which must be an event.
    private static func events(_ object: JSONObject) -> [(type: String, event: JSONObject)]? {
        guard (1...maximumEvents).contains(object.count) else { return nil }
        var events: [(type: String, event: JSONObject)] = []
        object.forEachMember { type, value in
            if let event = value.object { events.append((type, event)) }
        }
        return events.count == object.count ? events : nil
    }
}
