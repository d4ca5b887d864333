import IDToken
import SignInFixtures
import Testing

@Suite struct LogoutTests {
    private static let type = "http://schemas.openid.net/event/backchannel-logout"

    @Test func `a logout token names the user and the session`() throws {
        let notification = try SentNotification.logout.verify()
        #expect(notification.kind == .logout)
        let event = try SentNotification.logout.event()
        #expect(event.type == .loggedOut)
        #expect((event.subject, event.sessionID) == ("user", "s1"))
        #expect((event.email, event.occurredAt, event.reason) == (nil, nil, nil))
        #expect(event.dataText == "{}")
    }

    @Test func `the user or the session is enough`() throws {
        let user = try SentNotification.logout.without("sid").event()
        #expect((user.subject, user.sessionID) == ("user", nil))
        let session = try SentNotification.logout.without("sub").event()
        #expect((session.subject, session.sessionID) == (nil, "s1"))
        #expect(SentNotification.logout.without("sub").without("sid").rejection == .missing("sub"))
        #expect(SentNotification.logout.with("sub", #""""#).with("sid", #""""#).rejection == .missing("sub"))
    }

    @Test(arguments: ["iss", "aud", "iat", "exp", "jti", "events"])
    func `a claim is required`(claim: String) {
        #expect(SentNotification.logout.without(claim).rejection == .missing(claim))
    }

    @Test(arguments: [
        ("iss", "1"), ("aud", "1"), ("aud", "[1]"), ("iat", #""1700000000""#), ("exp", #""1700000160""#), ("jti", "1"),
        ("sub", "1"), ("sid", "1"), ("events", #"{"http://schemas.openid.net/event/backchannel-logout":true}"#),
        ("events", "[]"), ("events", #""logout""#), ("nbf", #""1""#),
    ])
    func `a claim has its type`(claim: String, json: String) {
        #expect(SentNotification.logout.with(claim, json).rejection == .invalid(claim))
    }

    @Test(arguments: [#""n""#, "null", #""""#])
    func `a nonce is forbidden, whatever its value`(nonce: String) {
        #expect(SentNotification.logout.with("nonce", nonce).rejection == .invalid("nonce"))
    }

    @Test func `unknown claims are ignored, and what the event says is passed on`() throws {
        let event = try SentNotification.logout.with("acr", "[1]")
            .with("events", #"{"\#(Self.type)":{"a":[1, 2]}}"#).event()
        #expect(event.dataText == #"{"a":[1, 2]}"#)
    }

    @Test func `further events give further entries, after the logout`() throws {
        let other = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"
        let sent = SentNotification.logout.with(
            "events", #"{"\#(other)":{"reason":"hijacking"},"\#(Self.type)":{},"https://e.example/x":{"a":1}}"#)
        let events = try sent.verify().events
        #expect(events.map(\.type) == [.loggedOut, .accountDisabled, .other])
        #expect(events.map(\.subject) == ["user", "user", "user"])
        #expect(events[1].reason == "hijacking")
    }

    @Test(arguments: ["true", "[1, 2]", "null", #""a\"b""#, "1e3"])
    func `a member beside the event that is no event is data`(value: String) throws {
        let type = Self.type
        for events in [
            #"{"\#(type)":{"a":1},"revoke_offline_access":\#(value)}"#,
            #"{"revoke_offline_access":\#(value),"\#(type)":{"a":1}}"#,
        ] {
            let event = try SentNotification.logout.with("events", events).event()
            #expect(event.type == .loggedOut)
            #expect(event.dataText == #"{"revoke_offline_access":\#(value),"a":1}"#)
        }
        // The event's own member wins, so that no name occurs twice.
        let same = #"{"\#(type)":{"a":1},"a":\#(value)}"#
        #expect(try SentNotification.logout.with("events", same).event().dataText == #"{"a":1}"#)
    }

    @Test func `the claim has sixteen members at most`() {
        func events(_ count: Int) -> String {
            #"{"\#(Self.type)":{}"# + (1..<count).map { #","m\#($0)":true"# }.joined() + "}"
        }
        #expect(SentNotification.logout.with("events", events(16)).rejection == nil)
        #expect(SentNotification.logout.with("events", events(17)).rejection == .invalid("events"))
    }

    @Test func `a provider whose logout tokens don't expire is known, and their age is limited`() throws {
        let sent = SentNotification.logout.without("exp").without("sub").rules {
            $0.logoutTokensMayLackExpiration = ProviderPreset.ory.facts([:]).logoutTokensLackExpiration
        }
        #expect(try sent.event().sessionID == "s1")
        #expect(sent.at(1_700_604_861).rejection == .tokenTooOld)
        #expect(sent.without("iat").rejection == .missing("iat"))
        #expect(sent.with("exp", "1700000000").rejection == .tokenExpired)
        #expect(
            ProviderPreset.all.filter { $0.facts(PresetArguments()).logoutTokensLackExpiration }.map(\.name) == ["ory"])
    }

    @Test(arguments: [
        "", #","typ":"JWT""#, #","typ":"logout+jwt""#, #","typ":"application/logout+jwt""#, #","typ":"LOGOUT+JWT""#,
    ])
    func `typ is its own, JWT or absent`(members: String) {
        #expect(SentNotification.logout.header(members).rejection == nil)
    }

    @Test(arguments: [#","typ":"secevent+jwt""#, #","typ":"at+jwt""#, #","typ":"logout""#, #","typ":"""#])
    func `another typ is refused`(members: String) {
        #expect(SentNotification.logout.header(members).rejection == .headerUnsupported)
    }

    @Test func `it expires, with clock skew`() {
        #expect(SentNotification.logout.at(1_700_000_219).rejection == nil)
        #expect(SentNotification.logout.at(1_700_000_220).rejection == .tokenExpired)
    }
}
