import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// A notification with valid claims, unless a test changes it. It was issued at 1 700 000 000.
struct SentNotification: SentToken {
    var claims: ClaimsText
    var policy: ProviderPolicy
    var rules: NotificationRules
    var now: Int64 = 1_700_000_100
    var key = TestKey.rsa
    var headerMembers = ""

    /// As Apple delivers it: the event is JSON text in a string.
    static let apple = SentNotification(
        claims: ClaimsText([
            "iss": #""https://appleid.apple.com""#, "aud": #""com.example.app""#, "exp": "1700086400",
            "iat": "1700000000", "jti": #""j1""#, "events": text(appleEvent("consent-revoked")),
        ]),
        policy: SignIn.apple.policy, rules: NotificationRules(kinds: [.apple]))

    static let logout = SentNotification(
        claims: ClaimsText([
            "iss": #""https://op.example""#, "aud": #""client""#, "iat": "1700000000", "exp": "1700000160",
            "jti": #""bWJq""#, "sub": #""user""#, "sid": #""s1""#,
            "events": #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#,
        ]),
        policy: SignIn.plain.policy, rules: NotificationRules(kinds: [.logout]))

    /// As Google's documentation shows it: without `exp`, and with the older form of a subject.
    static let google = SentNotification(
        claims: ClaimsText([
            "iss": #""https://accounts.google.com/""#, "aud": #""123-web.apps.googleusercontent.com""#,
            "iat": "1700000000", "jti": #""756E69717565""#,
            "events":
                #"{"https://schemas.openid.net/secevent/risc/event-type/account-disabled":{"subject":{"subject_type":"iss-sub","iss":"https://accounts.google.com/","sub":"7375626A656374"},"reason":"hijacking"}}"#,
        ]),
        policy: SignIn.google.policy,
        rules: NotificationRules(
            kinds: [.securityEvent], issuers: ProviderPreset.google.facts([:]).notificationIssuers))

    /// As the Shared Signals Framework has it: the subject beside the events.
    static let caep = SentNotification(
        claims: ClaimsText([
            "iss": #""https://op.example""#, "aud": #"["client","other"]"#, "iat": "1700000000", "jti": #""c1""#,
            "sub_id": #"{"format":"iss_sub","iss":"https://op.example","sub":"user"}"#,
            "events": event("caep/event-type/session-revoked", #"{"event_timestamp":1699999990}"#),
        ]),
        policy: SignIn.plain.policy, rules: NotificationRules(kinds: [.securityEvent]))

    static let all: [SentNotification] = [apple, logout, google, caep]

    static func appleEvent(_ type: String, _ members: String = "") -> String {
        #"{"type":"\#(type)","sub":"001234.5678","event_time":1699999999123\#(members)}"#
    }

    /// A security event under the prefix of OpenID's types.
    static func event(_ type: String, _ event: String = "{}") -> String {
        #"{"https://schemas.openid.net/secevent/\#(type)":\#(event)}"#
    }

    /// A JSON string.
    static func text(_ text: String) -> String { json(.string(text)) }

    func rules(_ body: (inout NotificationRules) -> Void) -> SentNotification { change { body(&$0.rules) } }

    /// Verifies the notification and explains it. Checks that both agree, in every test.
    func verify(with keys: JWKSet) throws(Rejection) -> VerifiedNotification {
        let (verifier, token, now) = (try IDTokenVerifier(), try unverified(), UnixTime(seconds: now))
        let explanation = verifier.explain(
            notification: token, with: ExplainedKeys(set: keys), under: policy, rules, isNamed: true, others: [],
            now: now)
        #expect(explanation.checks.map(\.name) == CheckName.ofNotifications)
        for check in explanation.checks { #expect(check.explanation.hasSuffix("."), "\(check.name)") }
        do throws(Rejection) {
            let verified = try verifier.jwsVerifier.verifyNotification(
                token, with: keys, algorithms: .all, under: policy, rules, now: now)
            #expect(explanation.isValid && explanation.refusal == nil, "\(explanation.summary)")
            return verified
        } catch {
            #expect(!explanation.isValid && explanation.refusal == .rejected(error), "\(explanation.summary)")
            throw error
        }
    }

    /// The only event.
    func event() throws -> NotifiedEvent {
        let events = try verify().events
        precondition(events.count == 1)
        return events[0]
    }
}

extension NotifiedEvent {
    var dataText: String { TestSupport.text(data) }
}
