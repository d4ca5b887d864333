import IDToken
import JOSE
import SignInFixtures
import Testing
import TestSupport

/// Rules for every kind of notification.
@Suite struct CommonRuleTests {
    private static let kinds: [Int] = Array(SentNotification.all.indices)

    @Test(arguments: kinds)
    func `claims are required`(index: Int) {
        let sent = SentNotification.all[index]
        #expect(sent.rejection == nil)
        for claim in ["iss", "aud", "iat", "jti", "events"] {
            #expect(sent.without(claim).rejection == .missing(claim))
        }
        #expect(sent.with("jti", #""""#).rejection == .missing("jti"))
        #expect(sent.with("jti", "1").rejection == .invalid("jti"))
        #expect(sent.with("events", "null").rejection == .missing("events"))
        #expect(sent.with("aud", "[]").rejection == .missing("aud"))
    }

    @Test(arguments: kinds)
    func `one audience is ours`(index: Int) {
        let sent = SentNotification.all[index]
        let ours = sent.policy.audiences[0]
        #expect(sent.with("aud", #""\#(ours)""#).rejection == nil)
        #expect(sent.with("aud", #"["someone","\#(ours)"]"#).rejection == nil)
        #expect(sent.with("aud", #""\#(ours)x""#).rejection == .audienceMismatch)
        #expect(sent.with("aud", #"["someone"]"#).rejection == .audienceMismatch)
        #expect(sent.with("azp", #""someone""#).rejection == nil)
    }

    @Test(arguments: kinds)
    func `the issuer is the provider, byte for byte`(index: Int) {
        let sent = SentNotification.all[index]
        #expect(sent.with("iss", #""https://other.example""#).rejection == .issuerMismatch)
        #expect(sent.with("iss", #""\#(sent.policy.issuer)x""#).rejection == .issuerMismatch)
    }

    @Test(arguments: kinds)
    func `only a notification whose issuer, audience, kind and times would pass is worth a fetch`(index: Int) throws {
        func wouldPass(_ sent: SentNotification) throws -> Bool {
            let token = try sent.unverified()
            let now = UnixTime(seconds: sent.now)
            return (try? token.checkClaims(ofNotificationUnder: sent.policy, sent.rules, now: now)) != nil
        }
        let sent = SentNotification.all[index]
        #expect(try wouldPass(sent))
        #expect(try !wouldPass(sent.with("iss", #""https://other.example""#)))
        #expect(try !wouldPass(sent.with("aud", #""someone""#)))
        #expect(try !wouldPass(sent.with("exp", "1700000000")))
        #expect(try !wouldPass(sent.with("exp", "1800000000").at(1_700_604_861)))
        #expect(try !wouldPass(sent.with("nbf", "1700000161")))
        #expect(try !wouldPass(sent.with("events", "{}")))
        #expect(
            try !wouldPass(
                sent.rules { rules in rules.kinds = NotificationKind.allCases.filter { !rules.kinds.contains($0) } }))
        #expect(try wouldPass(sent.without("jti")))
    }

    @Test(arguments: kinds)
    func `it is not from the future`(index: Int) {
        let sent = SentNotification.all[index].with("exp", "1800000000")
        #expect(sent.at(1_699_999_940).rejection == nil)
        #expect(sent.at(1_699_999_939).rejection == .tokenNotYetValid)
        #expect(sent.with("nbf", "1700000160").rejection == nil)
        #expect(sent.with("nbf", "1700000161").rejection == .tokenNotYetValid)
    }

    @Test(arguments: kinds)
    func `it is at most a week old, or as old as the settings say`(index: Int) {
        let sent = SentNotification.all[index].with("exp", "1800000000")
        #expect(sent.at(1_700_604_860).rejection == nil)
        #expect(sent.at(1_700_604_861).rejection == .tokenTooOld)
        let strict = sent.rules { $0.maximumAgeSeconds = 10 }
        #expect(strict.at(1_700_000_070).rejection == nil)
        #expect(strict.at(1_700_000_071).rejection == .tokenTooOld)
    }

    @Test(arguments: kinds)
    func `its kind is one that is listed`(index: Int) throws {
        let sent = SentNotification.all[index]
        let kind = try sent.verify().kind
        for other in NotificationKind.allCases {
            #expect(sent.rules { $0.kinds = [other] }.rejection == (other == kind ? nil : .invalid("events")))
        }
        #expect(sent.rules { $0.kinds = NotificationKind.allCases }.rejection == nil)
    }

    @Test(arguments: kinds)
    func `the header has no extension`(index: Int) {
        let sent = SentNotification.all[index]
        for members in [#","crit":["exp"]"#, #","b64":false"#, #","zip":"DEF""#, #","typ":"at+jwt""#] {
            #expect(sent.header(members).rejection == .headerUnsupported)
        }
        for members in ["", #","typ":"JWT""#, #","typ":"application/jwt""#] {
            #expect(sent.header(members).rejection == nil)
        }
    }

    @Test func `a security event declares its type, and no other kind does`() {
        for typ in ["secevent+jwt", "application/secevent+jwt", "SecEvent+JWT"] {
            let members = #","typ":"\#(typ)""#
            #expect(SentNotification.google.header(members).rejection == nil)
            #expect(SentNotification.apple.header(members).rejection == nil)
            #expect(SentNotification.logout.header(members).rejection == .headerUnsupported)
        }
        #expect(SentNotification.apple.header(#","typ":"logout+jwt""#).rejection == .headerUnsupported)
        #expect(SentNotification.google.header(#","typ":"logout+jwt""#).rejection == .headerUnsupported)
    }

    @Test(arguments: kinds)
    func `the signature is the provider's`(index: Int) throws {
        let sent = SentNotification.all[index]
        var strange = sent
        strange.key = .otherRSA
        #expect(strange.rejection == .keyNotFound)
        var weak = sent.policy { $0.algorithms = [.es256] }
        #expect(weak.rejection == .algorithmNotAllowed)
        weak.key = .p256
        #expect(weak.rejection == nil)
        var octets = Array(sent.token.utf8)
        let changed = octets.count - 10
        octets[changed] = octets[changed] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let token = try UnverifiedToken(String(decoding: octets, as: UTF8.self))
        let keys = try JWKSet(jwkSet([TestKey.rsa.jwk()]))
        #expect(throws: Rejection.signatureInvalid) {
            try IDTokenVerifier().jwsVerifier.verifyNotification(
                token, with: keys, algorithms: .all, under: sent.policy, sent.rules, now: UnixTime(seconds: sent.now))
        }
    }

    @Test func `a key of one tenant signs for no other`() throws {
        let sent = SentNotification.caep.policy {
            $0.issuer = "https://op.example/{tid}"
            $0.keyIssuers = [IssuerTemplate("https://op.example/{tid}")].compactMap { $0 }
        }.with("iss", #""https://op.example/a""#).with("tid", #""a""#)
        func rejection(_ keyIssuer: String) throws -> Rejection? {
            let keys = try JWKSet(jwkSet([TestKey.rsa.jwk(["issuer": .string(keyIssuer)])]))
            do throws(Rejection) {
                _ = try IDTokenVerifier().jwsVerifier.verifyNotification(
                    sent.unverified(), with: keys, algorithms: .all, under: sent.policy, sent.rules,
                    now: UnixTime(seconds: sent.now))
                return nil
            } catch {
                return error
            }
        }
        #expect(try rejection("https://op.example/a") == nil)
        #expect(try rejection("https://op.example/b") == .issuerMismatch)
    }

    // MARK: ID Tokens

    @Test(arguments: [SignIn.apple, .google, .plain])
    func `an ID Token is no notification`(signIn: SignIn) {
        let sent = SentNotification(
            claims: signIn.claims.with("jti", #""1""#), policy: signIn.policy,
            rules: NotificationRules(kinds: NotificationKind.allCases), key: signIn.key)
        #expect(sent.rejection == .missing("events"))
    }

    @Test(arguments: kinds)
    func `a notification is no ID Token`(index: Int) {
        let sent = SentNotification.all[index]
        let claims = sent.claims.with("sub", #""user""#).with("exp", "1800000000")
            .with("iss", #""\#(sent.policy.issuer)""#).with("aud", #""\#(sent.policy.audiences[0])""#)
        #expect(SignIn(claims: claims, policy: sent.policy, key: sent.key).rejection == .invalid("events"))
    }

    // MARK: Without keys

    @Test(arguments: kinds)
    func `keys are fetched only for what could pass`(index: Int) throws {
        let sent = SentNotification.all[index]
        func mayFetch(_ sent: SentNotification) throws -> Bool {
            let token = try sent.unverified()
            let now = UnixTime(seconds: sent.now)
            return (try? token.checkClaims(ofNotificationUnder: sent.policy, sent.rules, now: now)) != nil
        }
        #expect(try mayFetch(sent))
        #expect(try !mayFetch(sent.with("iss", #""https://other.example""#)))
        #expect(try !mayFetch(sent.with("aud", #""someone""#)))
        #expect(try !mayFetch(sent.with("iat", "1600000000")))
        #expect(try !mayFetch(sent.with("iat", "1800000000")))
        #expect(try !mayFetch(sent.without("iat")))
    }

    @Test func `the header is checked without keys`() throws {
        let verifier = try IDTokenVerifier().jwsVerifier
        func rejection(_ sent: SentNotification) -> Rejection? {
            do throws(Rejection) {
                try verifier.checkNotificationHeader(sent.unverified(), allowing: [.rs256])
                return nil
            } catch {
                return error
            }
        }
        #expect(rejection(.apple) == nil)
        #expect(rejection(.logout.header(#","typ":"logout+jwt""#)) == nil)
        #expect(rejection(.logout.header(#","typ":"at+jwt""#)) == .headerUnsupported)
        #expect(rejection(.logout.header(#","typ":"logout+jwt","crit":["a"]"#)) == .headerUnsupported)
        var other = SentNotification.apple
        other.key = .p256
        #expect(rejection(other) == .algorithmNotAllowed)
    }
}
