import IDToken
import SignInFixtures
import Testing

@Suite struct IssuerTests {
    @Test func `the configured issuer passes, and is reported`() throws {
        #expect(try SignIn.plain.verify().identity.issuer == "https://op.example")
    }

    @Test(arguments: [
        "https://op.example/", "http://op.example", "https://OP.example", "https://Op.example", "HTTPS://op.example",
        "https://op.example:443", "https://op.example.", "https://user@op.example", "https://op%2Eexample",
        "https://op.example?",
        "https://op.example#", "https://op.example/realm", "https://op.exampl", "https://op.example.evil", "https",
        "op.example",
        "", " https://op.example", "https://op.example ", "https://op.example\\n", "https://\u{43e}p.example",
        "https://evil.example", "https://op.example/./", "https://op.example//", "*", "https://\u{ff4f}p.example",
        "https://op.example,https://op.example",
    ])
    func `any other spelling is another issuer`(issuer: String) {
        #expect(SignIn.plain.with("iss", "\"\(issuer)\"").rejection == .issuerMismatch)
    }

    @Test(arguments: [
        ("https://op.example/\u{e9}", "https://op.example/e\u{301}"),
        ("https://op.example/K", "https://op.example/\u{212a}"),
    ])
    func `an issuer in another Unicode form is another issuer`(configured: String, claimed: String) {
        let signIn = SignIn.plain.policy { $0.issuer = configured }
        #expect(signIn.with("iss", "\"\(configured)\"").rejection == nil)
        #expect(signIn.with("iss", "\"\(claimed)\"").rejection == .issuerMismatch)
        let alias = SignIn.plain.policy { $0.issuerAliases = [configured] }
        #expect(alias.with("iss", "\"\(claimed)\"").rejection == .issuerMismatch)
    }

    @Test func `an escaped spelling of the same text is the same issuer`() {
        #expect(SignIn.plain.with("iss", #""https:\/\/op.ex\u0061mple""#).rejection == nil)
    }

    @Test func `an alias passes, and the canonical issuer is reported`() throws {
        let signIn = SignIn.plain.policy { $0.issuerAliases = ["https://old.example", "old.example"] }
        #expect(try signIn.with("iss", #""https://old.example""#).verify().identity.issuer == "https://op.example")
        #expect(try signIn.with("iss", #""old.example""#).verify().identity.issuer == "https://op.example")
        #expect(signIn.with("iss", #""https://old.example/""#).rejection == .issuerMismatch)
    }

    @Test func `an absent issuer is missing, another type invalid`() {
        #expect(SignIn.plain.without("iss").rejection == .missing("iss"))
        for json in ["null", "5", "true", "[]", #"["https://op.example"]"#, #"{"iss":"https://op.example"}"#] {
            #expect(SignIn.plain.with("iss", json).rejection == .invalid("iss"), "\(json)")
        }
    }
}
