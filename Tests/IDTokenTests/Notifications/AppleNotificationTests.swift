import IDToken
import SignInFixtures
import Testing

@Suite struct AppleNotificationTests {
    private typealias EventType = NotifiedEvent.EventType

    private static let types: [(String, EventType)] = [
        ("consent-revoked", .consentRevoked), ("account-delete", .accountDeleted),
        ("account-deleted", .accountDeleted), ("email-disabled", .emailRelayDisabled),
        ("email-enabled", .emailRelayEnabled),
    ]

    private func sent(_ event: String) -> SentNotification { .apple.with("events", SentNotification.text(event)) }

    @Test(arguments: types)
    func `each type has one name`(type: (String, NotifiedEvent.EventType)) throws {
        let event = try sent(SentNotification.appleEvent(type.0)).event()
        #expect(event.type == type.1)
        #expect(event.subject == "001234.5678")
        #expect(event.occurredAt == UnixTime(seconds: 1_699_999_999))
        #expect((event.sessionID, event.email, event.isPrivateEmail, event.reason) == (nil, nil, nil, nil))
        #expect(event.dataText == "{}")
    }

    @Test func `an unknown type is other, with the whole event`() throws {
        let text = SentNotification.appleEvent("account-moved", #","team":"A""#)
        let event = try sent(text).event()
        #expect(event.type == .other)
        #expect(event.subject == "001234.5678")
        #expect(event.dataText == text)
    }

    @Test func `the notification has its sender and its id`() throws {
        let notification = try SentNotification.apple.verify()
        #expect(notification.kind == .apple)
        #expect(notification.issuer == "https://appleid.apple.com")
        #expect(notification.id == "j1")
        #expect(notification.issuedAt == UnixTime(seconds: 1_700_000_000))
    }

    @Test func `events is a text, an object, or an array of one object`() throws {
        let event = SentNotification.appleEvent("consent-revoked")
        let all = [SentNotification.text(event), event, "[\(event)]"]
        for events in all {
            #expect(try SentNotification.apple.with("events", events).event().type == .consentRevoked)
        }
    }

    @Test(arguments: [
        "[]", #"[{"type":"consent-revoked","sub":"1"},{"type":"consent-revoked","sub":"2"}]"#, #"["{}"]"#, "[[]]",
        #""""#, #""not JSON""#, #""[]""#, #""{\"type\":\"a\",\"type\":\"b\",\"sub\":\"c\"}""#, "1", "true", "{}",
        #"{"type":"consent-revoked"}"#, #"{"sub":"1"}"#, #"{"type":"","sub":"1"}"#, #"{"type":"a","sub":""}"#,
        #"{"type":1,"sub":"1"}"#, #"{"type":"a","sub":1}"#, #"{"type":"a","sub":null}"#, #"{"type":{},"sub":"a"}"#,
    ])
    func `any other form is refused`(events: String) {
        #expect(SentNotification.apple.with("events", events).rejection == .invalid("events"))
    }

    @Test(arguments: [
        ("1699999999", 1_699_999_999), ("1699999999123", 1_699_999_999), ("99999999999", 99_999_999_999),
        ("100000000000", 100_000_000), ("1.699999999E9", 1_699_999_999), ("1699999999123.5", 1_699_999_999),
    ])
    func `event_time is in seconds or in milliseconds`(written: String, seconds: Int64) throws {
        let event = try sent(#"{"type":"consent-revoked","sub":"1","event_time":\#(written)}"#).event()
        #expect(event.occurredAt == UnixTime(seconds: seconds))
        #expect(event.dataText == "{}")
    }

    @Test(arguments: [(#""true""#, true), ("true", true), (#""false""#, false), ("false", false)])
    func `a relay address`(written: String, isPrivate: Bool) throws {
        let members = #","email":"a@privaterelay.appleid.com","is_private_email":\#(written)"#
        let event = try sent(SentNotification.appleEvent("email-disabled", members)).event()
        #expect(event.email == "a@privaterelay.appleid.com")
        #expect(event.isPrivateEmail == isPrivate)
        #expect(event.dataText == "{}")
    }

    @Test func `what can't be read stays in the data as it was written`() throws {
        let members = #""event_time":"now","email":1,"is_private_email":"yes","more":[1.50,"\u00e9",null]"#
        let event = try sent(#"{"type":"email-enabled","sub":"1",\#(members)}"#).event()
        #expect((event.occurredAt, event.email, event.isPrivateEmail) == (nil, nil, nil))
        #expect(event.dataText == "{\(members)}")
    }
}
