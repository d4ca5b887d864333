import IDToken
import SignInFixtures
import Testing

@Suite struct AudienceTests {
    private func audiences(_ json: String) -> SignIn { SignIn.plain.with("aud", json) }

    @Test func `our client ID passes, alone, in a list, and twice in one`() throws {
        #expect(try audiences(#""client""#).verify().audiences == ["client"])
        #expect(try audiences(#"["client"]"#).verify().audiences == ["client"])
        #expect(try audiences(#"["client","client"]"#).verify().audiences == ["client", "client"])
    }

    @Test(arguments: [
        "Client", "CLIENT", "clien", "lient", "client2", "xclient", "client ", " client", "client/", "client\\u0000x",
        "*", "client,other",
        "client other", "cli*", ".*", "", "other", "null", "client\\n", "https://client", "\u{441}lient",
        "cl\u{131}ent",
        "clie\u{301}nt",
    ])
    func `any other spelling is another client`(audience: String) {
        let expected: Rejection = audience.contains("\\u0000") ? .tokenMalformed(.payload) : .audienceMismatch
        #expect(audiences("\"\(audience)\"").rejection == expected)
        #expect(audiences("[\"\(audience)\"]").rejection == expected)
    }

    @Test(arguments: [("caf\u{e9}", "cafe\u{301}"), ("K", "\u{212a}")])
    func `an audience in another Unicode form is another client`(configured: String, claimed: String) {
        let signIn = SignIn.plain.policy { $0.audiences = [configured] }
        #expect(signIn.with("aud", "\"\(configured)\"").rejection == nil)
        #expect(signIn.with("aud", "\"\(claimed)\"").rejection == .audienceMismatch)
        let trusting = SignIn.plain.policy { $0.trustedAudiences = [configured] }
        #expect(trusting.with("aud", "[\"client\",\"\(claimed)\"]").rejection == .audienceMismatch)
    }

    @Test func `no audience at all is missing`() {
        #expect(SignIn.plain.without("aud").rejection == .missing("aud"))
        #expect(audiences("null").rejection == .missing("aud"))
        #expect(audiences("[]").rejection == .missing("aud"))
    }

    @Test(arguments: [
        "5", "true", "{}", #"{"client":1}"#, #"[["client"]]"#, "[null]", #"["client",5]"#, #"[5,"client"]"#,
        #"["client",null]"#,
    ])
    func `an audience that is no string is invalid, beside ours too`(json: String) {
        #expect(audiences(json).rejection == .invalid("aud"))
    }

    @Test func `any of several configured clients passes`() {
        let signIn = SignIn.plain.policy { $0.audiences = ["web", "client", "ios"] }
        #expect(signIn.rejection == nil)
        #expect(signIn.with("aud", #"["ios","web"]"#).rejection == nil)
        #expect(signIn.with("aud", #""android""#).rejection == .audienceMismatch)
        #expect(SignIn.plain.policy { $0.audiences = [] }.rejection == .audienceMismatch)
        let narrowed = signIn.expecting { $0.audience = "ios" }
        #expect(narrowed.rejection == .audienceNotExpected)
        #expect(narrowed.with("aud", #""android""#).rejection == .audienceMismatch)
        #expect(narrowed.with("aud", #""ios""#).rejection == nil)
    }

    @Test func `a second audience that is neither ours nor trusted is refused without azp`() {
        #expect(audiences(#"["client","other"]"#).rejection == .audienceMismatch)
        #expect(audiences(#"["other","client"]"#).rejection == .audienceMismatch)
        #expect(audiences(#"["other"]"#).rejection == .audienceMismatch)
        #expect(audiences(#"["other","another"]"#).with("azp", #""client""#).rejection == .audienceMismatch)
    }

    @Test func `a trusted audience may stand beside ours, and never instead of it`() {
        let signIn = SignIn.plain.policy { $0.trustedAudiences = ["api"] }
        #expect(signIn.with("aud", #"["client","api"]"#).rejection == nil)
        #expect(signIn.with("aud", #"["client","api","other"]"#).rejection == .audienceMismatch)
        #expect(signIn.with("aud", #"["client","API"]"#).rejection == .audienceMismatch)
        #expect(signIn.with("aud", #""api""#).rejection == .audienceMismatch)
        #expect(signIn.with("aud", #"["api"]"#).with("azp", #""client""#).rejection == .audienceMismatch)
    }

    @Test func `beside an audience that is not trusted, azp is ours`() {
        let signIn = audiences(#"["client","other"]"#)
        #expect(signIn.with("azp", #""client""#).rejection == nil)
        #expect(signIn.with("azp", #""other""#).rejection == .authorizedPartyMismatch)
        #expect(signIn.with("azp", #""Client""#).rejection == .authorizedPartyMismatch)
        #expect(signIn.with("azp", #""""#).rejection == .authorizedPartyMismatch)
        #expect(signIn.with("azp", "null").rejection == .invalid("azp"))
        #expect(signIn.with("azp", #"["client"]"#).rejection == .invalid("azp"))
        let configured = signIn.policy { $0.authorizedParties = ["backend"] }
        #expect(configured.with("azp", #""backend""#).rejection == nil)
    }

    @Test func `a thousand audiences are judged like two`() {
        let many = (0..<1_000).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(audiences("[\(many)]").rejection == .audienceMismatch)
        #expect(audiences("[\(many),\"client\"]").rejection == .audienceMismatch)
        let ours = Array(repeating: #""client""#, count: 1_000).joined(separator: ",")
        #expect(audiences("[\(ours)]").rejection == nil)
    }

    @Test func `a sign-in for one client takes no token of another of ours`() {
        let signIn = SignIn.plain.policy { $0.audiences = ["client", "web"] }
        #expect(signIn.expecting { $0.audience = "client" }.rejection == nil)
        #expect(signIn.expecting { $0.audience = "web" }.rejection == .audienceNotExpected)
        #expect(
            signIn.with("aud", #"["client","web"]"#).expecting { $0.audience = "web" }.rejection == .audienceMismatch)
        #expect(
            signIn.with("aud", #"["client","web"]"#).with("azp", #""web""#).expecting { $0.audience = "web" }.rejection
                == nil)
        #expect(
            signIn.with("aud", #"["client","web"]"#).with("azp", #""client""#).expecting { $0.audience = "web" }
                .rejection
                == .authorizedPartyMismatch)
        // A request can't add an audience that is not configured.
        #expect(signIn.with("aud", #""other""#).expecting { $0.audience = "other" }.rejection == .audienceMismatch)
    }

    // MARK: Tokens without an audience

    private let session = SignIn.plain.without("aud").with("azp", #""https://app.example""#).policy {
        $0.audiences = []
        $0.authorizedParties = ["https://app.example", "https://www.app.example"]
    }

    @Test func `a provider without audiences is told by azp, which must be there`() throws {
        #expect(try session.verify().audiences == [])
        #expect(try session.verify().authorizedParty == "https://app.example")
        #expect(session.with("azp", #""https://www.app.example""#).rejection == nil)
        for other in ["https://app.example/", "http://app.example", "https://app.example.evil", "", "null"] {
            #expect(session.with("azp", "\"\(other)\"").rejection == .authorizedPartyMismatch, "\(other)")
        }
        #expect(session.without("azp").rejection == .missing("azp"))
        #expect(session.with("azp", "null").rejection == .invalid("azp"))
        #expect(session.with("azp", #"["https://app.example"]"#).rejection == .invalid("azp"))
    }

    @Test func `a token for some audience is not for a provider without any`() {
        #expect(session.with("aud", #""client""#).rejection == .audienceMismatch)
        #expect(session.with("aud", #"["https://app.example"]"#).rejection == .audienceMismatch)
        #expect(session.with("aud", "5").rejection == .invalid("aud"))
        for json in ["null", "[]"] { #expect(session.with("aud", json).rejection == nil) }
    }

    @Test func `keys are fetched for it only where azp would pass`() throws {
        func wouldPass(_ signIn: SignIn) throws -> Bool {
            try UnverifiedToken(signIn.token).wouldPassClaims(of: signIn.policy, now: UnixTime(seconds: signIn.now))
        }
        #expect(try wouldPass(session))
        #expect(try !wouldPass(session.without("azp")))
        #expect(try !wouldPass(session.with("azp", #""https://evil.example""#)))
    }
}
