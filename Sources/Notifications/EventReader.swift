private import Bytes
internal import IDToken
internal import JSON

/// Reads members of an event, and tracks which have not been read.
///
/// Members are only descriptive: one of an unexpected type is no error, but stays in the data.
struct EventReader {
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
        var members: [(name: String, value: JSONValue)] = added.map { ($0.name.string, $0.value) }
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
enum EventNames {
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
