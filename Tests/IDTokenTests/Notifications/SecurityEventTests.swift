import IDToken
import SignInFixtures
import Testing

@Suite struct SecurityEventTests {
    private static let types: [(String, NotifiedEvent.EventType)] = [
        ("risc/event-type/account-purged", .accountDeleted), ("risc/event-type/sessions-revoked", .sessionsRevoked),
        ("caep/event-type/session-revoked", .sessionsRevoked), ("oauth/event-type/token-revoked", .tokensRevoked),
        ("oauth/event-type/tokens-revoked", .tokensRevoked), ("risc/event-type/account-disabled", .accountDisabled),
        ("risc/event-type/account-enabled", .accountEnabled),
        ("risc/event-type/account-credential-change-required", .credentialChangeRequired),
        ("risc/event-type/credential-compromise", .credentialChangeRequired),
        ("risc/event-type/identifier-changed", .identifierChanged),
        ("risc/event-type/identifier-recycled", .identifierRecycled),
        ("risc/event-type/verification", .verification), ("ssf/event-type/verification", .verification),
    ]

    private func google(_ type: String, _ event: String) -> SentNotification {
        .google.with("events", SentNotification.event(type, event))
    }

    @Test(arguments: types)
    func `each type has one name`(type: (String, NotifiedEvent.EventType)) throws {
        let event = try SentNotification.caep.with("events", SentNotification.event(type.0)).event()
        #expect(event.type == type.1)
        #expect(event.subject == "user")
        #expect(event.dataText == "{}")
    }

    @Test(arguments: [
        "caep/event-type/credential-change", "risc/event-type/opt-in", "risc/event-type/account-disabledx",
        "risc/event-type/account-disable", "caep/event-type/account-disabled",
    ])
    func `an unknown type is other, and its data names it`(type: String) throws {
        let events = SentNotification.event(type, #"{"a":1}"#)
        let event = try SentNotification.caep.with("events", events).event()
        #expect(event.type == .other)
        #expect(event.subject == "user")
        #expect(event.dataText == events)
    }

    // MARK: Google

    @Test func `an event of Google's`() throws {
        let notification = try SentNotification.google.verify()
        #expect(notification.kind == .securityEvent)
        #expect(notification.issuer == "https://accounts.google.com")
        let event = try SentNotification.google.event()
        #expect(event.type == .accountDisabled)
        #expect((event.subject, event.reason) == ("7375626A656374", "hijacking"))
        #expect(event.dataText == "{}")
    }

    @Test(arguments: ["https://accounts.google.com", "https://accounts.google.com/", "accounts.google.com"])
    func `Google's issuer has three spellings, of the token and of the subject`(issuer: String) throws {
        let subject = #"{"subject_type":"iss-sub","iss":"\#(issuer)","sub":"1"}"#
        let sent = google("risc/event-type/sessions-revoked", #"{"subject":\#(subject)}"#)
            .with("iss", #""\#(issuer)""#)
        #expect(try sent.verify().issuer == "https://accounts.google.com")
        #expect(try sent.event().subject == "1")
    }

    @Test(arguments: ["https://accounts.google.com//", "http://accounts.google.com", "https://accounts.google.co"])
    func `a fourth spelling is refused`(issuer: String) {
        #expect(SentNotification.google.with("iss", #""\#(issuer)""#).rejection == .issuerMismatch)
    }

    @Test func `the spellings are those of Google alone`() {
        let sent = SentNotification.google.rules { $0.issuers = [] }
        #expect(sent.rejection == .issuerMismatch)
        #expect(sent.with("iss", #""https://accounts.google.com""#).rejection == nil)
    }

    @Test func `a subject with an address`() throws {
        let subject =
            #"{"subject_type":"id_token_claims","iss":"https://accounts.google.com","sub":"1","email":"a@gmail.com"}"#
        let event = try google("risc/event-type/account-enabled", #"{"subject":\#(subject)}"#).event()
        #expect((event.subject, event.email) == ("1", "a@gmail.com"))
        #expect(event.dataText == "{}")
    }

    @Test func `a revoked token names no user`() throws {
        let data =
            #"{"subject":{"subject_type":"oauth_token","token_type":"refresh_token","token_identifier_alg":"prefix","token":"1//0gabcdefghij"}}"#
        let event = try google("oauth/event-type/token-revoked", data).event()
        #expect(event.type == .tokensRevoked)
        #expect(event.subject == nil)
        #expect(event.dataText == data)
    }

    @Test func `the test of a stream names no user`() throws {
        let event = try google("risc/event-type/verification", #"{"state":"s"}"#).event()
        #expect(event.type == .verification)
        #expect(event.subject == nil)
        #expect(event.dataText == #"{"state":"s"}"#)
    }

    // MARK: Subjects

    @Test(arguments: [
        #"{"format":"iss_sub","iss":"https://other.example","sub":"user"}"#, #"{"format":"opaque","id":"user"}"#,
        #"{"format":"iss_sub","iss":null,"sub":"user"}"#, #"{"format":"aliases","identifiers":[]}"#, #""user""#,
        #"{"sub":"user"}"#, #"{"format":"complex"}"#, #"{"format":"complex","user":{"format":"opaque","id":"user"}}"#,
        #"{"format":"complex","user":{"format":"iss_sub","iss":"https://other.example","sub":"user"},"session":{"format":"opaque","id":"s"}}"#,
    ])
    func `a subject of another issuer, or of another form, is left in the data`(subject: String) throws {
        let event = try SentNotification.caep.with("sub_id", subject).event()
        #expect((event.subject, event.sessionID) == (nil, nil))
        #expect(event.dataText == #"{"sub_id":\#(subject)}"#)
        let inside = SentNotification.event("risc/event-type/account-enabled", #"{"subject":\#(subject)}"#)
        let other = try SentNotification.caep.without("sub_id").with("events", inside).event()
        #expect(other.subject == nil)
        #expect(other.dataText == #"{"subject":\#(subject)}"#)
    }

    @Test func `a subject without an issuer is the provider's own`() throws {
        let event = try SentNotification.caep.with("sub_id", #"{"format":"iss_sub","sub":"user"}"#).event()
        #expect(event.subject == "user")
    }

    @Test func `an alias of the issuer is the provider's own`() throws {
        let sent = SentNotification.caep.policy { $0.issuerAliases = ["https://old.example"] }
        let subject = #"{"format":"iss_sub","iss":"https://old.example","sub":"user"}"#
        #expect(try sent.with("sub_id", subject).event().subject == "user")
    }

    @Test func `a tenant's subjects are only its own`() throws {
        let sent = SentNotification.caep.policy { $0.issuer = "https://{tid}.op.example" }
            .with("tid", #""a""#).with("iss", #""https://a.op.example""#)
        func subject(_ tenant: String) -> SentNotification {
            sent.with("sub_id", #"{"format":"iss_sub","iss":"https://\#(tenant).op.example","sub":"user"}"#)
        }
        #expect(try subject("a").event().subject == "user")
        #expect(try subject("b").event().subject == nil)
        #expect(try subject("a").verify().issuer == "https://a.op.example")
    }

    @Test func `a session that is revoked is logged out, all of them are revoked`() throws {
        let user = #"{"format":"iss_sub","iss":"https://op.example","sub":"user"}"#
        let ofOne = #"{"format":"complex","user":\#(user),"session":{"format":"opaque","id":"s1"}}"#
        let one = try SentNotification.caep.with("sub_id", ofOne).event()
        #expect(one.type == .loggedOut)
        #expect((one.subject, one.sessionID) == ("user", "s1"))
        #expect(one.occurredAt == UnixTime(seconds: 1_699_999_990))
        #expect(one.dataText == "{}")
        #expect(try SentNotification.caep.with("sid", #""s2""#).event().sessionID == "s2")
        #expect(try SentNotification.caep.with("sid", #""s2""#).event().type == .loggedOut)
        #expect(try SentNotification.caep.event().type == .sessionsRevoked)
    }

    @Test func `the subject of RFC 8417 is the token's own`() throws {
        let sent = SentNotification.caep.without("sub_id").with("sub", #""user""#)
        #expect(try sent.event().subject == "user")
        #expect(try sent.with("sub", "1").event().subject == nil)
        #expect(try sent.without("sub").event().subject == nil)
    }

    @Test func `members of a subject that are not known stay in the data`() throws {
        let subject = #"{"format":"iss_sub","iss":"https://op.example","sub":"user","device":"d"}"#
        let event = try SentNotification.caep.with("sub_id", subject).event()
        #expect(event.subject == "user")
        #expect(event.dataText == #"{"sub_id":\#(subject)}"#)
    }

    // MARK: Several events

    @Test func `several events give several entries, in order`() throws {
        let prefix = "https://schemas.openid.net/secevent/risc/event-type/"
        let events = #"{"\#(prefix)sessions-revoked":{},"https://e.example/x":{"a":1},"\#(prefix)account-purged":{}}"#
        let found = try SentNotification.caep.with("events", events).verify().events
        #expect(found.map(\.type) == [.sessionsRevoked, .other, .accountDeleted])
        #expect(found.map(\.subject) == ["user", "user", "user"])
        #expect(found[1].dataText == #"{"https://e.example/x":{"a":1}}"#)
    }

    @Test func `at most 16 events`() throws {
        func sent(_ count: Int) -> SentNotification {
            let events = (0..<count).map { #""https://e.example/\#($0)":{}"# }.joined(separator: ",")
            return .caep.with("events", "{\(events)}")
        }
        #expect(try sent(16).verify().events.count == 16)
        #expect(sent(17).rejection == .invalid("events"))
        #expect(sent(0).rejection == .invalid("events"))
    }

    @Test(arguments: ["true", "[]", #""x""#, "null"])
    func `an event is an object`(event: String) {
        let events = #"{"https://e.example/x":{},"https://e.example/y":\#(event)}"#
        #expect(SentNotification.caep.with("events", events).rejection == .invalid("events"))
    }

    @Test func `no exp is needed, and one that is there counts`() {
        #expect(SentNotification.google.at(1_700_600_000).rejection == nil)
        #expect(SentNotification.google.with("exp", "1700000039").rejection == .tokenExpired)
        #expect(SentNotification.google.with("exp", "1700000041").rejection == nil)
        #expect(SentNotification.google.with("exp", #""1""#).rejection == .invalid("exp"))
    }

    @Test func `a nonce is forbidden`() {
        #expect(SentNotification.google.with("nonce", #""n""#).rejection == .invalid("nonce"))
        #expect(SentNotification.apple.with("nonce", #""n""#).rejection == nil)
    }

    @Test func `the time of the event`() throws {
        let event = #"{"event_timestamp":1600000000000}"#
        let sent = SentNotification.caep.with("toe", "1650000000")
            .with("events", SentNotification.event("risc/event-type/account-purged", event))
        #expect(try sent.event().occurredAt == UnixTime(seconds: 1_600_000_000))
        let without = sent.with("events", SentNotification.event("risc/event-type/account-purged"))
        #expect(try without.event().occurredAt == UnixTime(seconds: 1_650_000_000))
    }
}
