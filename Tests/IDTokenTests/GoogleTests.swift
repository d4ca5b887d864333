import IDToken
import JOSE
import SignInFixtures
import Testing

/// Sign in with Google, with realistic tokens.
@Suite struct GoogleTests {
    private func identity(_ email: String, hd: String? = nil) throws -> Identity {
        var signIn = SignIn.google.with("email", "\"\(email)\"").with("email_verified", "true")
        if let hd { signIn = signIn.with("hd", hd) }
        return try signIn.verify().identity
    }

    @Test func `a whole token`() throws {
        let verified = try SignIn.google.with("email", #""ada@gmail.com""#).with("email_verified", "true")
            .with("name", #""Ada Lovelace""#).with("given_name", #""Ada""#).with("family_name", #""Lovelace""#)
            .with("picture", #""https:\/\/lh3.googleusercontent.com\/a""#).with("locale", #""en-GB""#).with(
                "jti", #""j1""#
            )
            .verify()
        let identity = verified.identity
        #expect(identity.provider == "google")
        #expect(identity.subject == "110169484474386276334")
        #expect(identity.email == "ada@gmail.com")
        #expect(identity.isEmailVerified == true)
        #expect(identity.emailTrust == .authoritative)
        #expect(identity.isPrivateEmail == nil)
        #expect((identity.name, identity.givenName, identity.familyName) == ("Ada Lovelace", "Ada", "Lovelace"))
        #expect(identity.nameSource == .token)
        #expect(identity.picture == "https://lh3.googleusercontent.com/a")
        #expect(identity.locale == "en-GB")
        #expect(identity.hostedDomain == nil)
        #expect(verified.authorizedParty == "123-android.apps.googleusercontent.com")
        #expect(verified.tokenID == "j1")
        #expect(verified.keyID == "rsa")
        #expect(verified.algorithm == .rs256)
    }

    @Test func `the issuer without its scheme is the same issuer`() throws {
        let identity = try SignIn.google.with("iss", #""accounts.google.com""#).verify().identity
        #expect(identity.issuer == "https://accounts.google.com")
        for other in [
            "http://accounts.google.com", "https://accounts.google.com/", "accounts.google.com/", "Accounts.Google.com",
            "google.com",
        ] {
            #expect(SignIn.google.with("iss", "\"\(other)\"").rejection == .issuerMismatch, "\(other)")
        }
    }

    @Test(arguments: [
        ("a@gmail.com", nil, Identity.EmailTrust.authoritative), ("a@googlemail.com", nil, .authoritative),
        ("a@GMAIL.com", nil, .authoritative), ("a@example.com", #""example.com""#, .authoritative),
        ("a@Example.COM", #""example.com""#, .authoritative), ("a@example.com", #""EXAMPLE.com""#, .authoritative),
        ("a@example.com", nil, .verified), ("a@victim.com", #""example.com""#, .verified),
        ("a@sub.example.com", #""example.com""#, .verified),
        ("a@example.com", #""sub.example.com""#, .verified), ("a@notgmail.com", nil, .verified),
        ("a@gmail.com.evil.example", nil, .verified),
        ("a@gmail.co", nil, .verified), ("gmail.com@evil.example", nil, .verified), ("a@example.com", "5", .verified),
        ("a@example.com", "null", .verified), ("a@example.com", #""""#, .verified),
        ("a@gmаil.com", nil, .verified),
        ("a@example.com", #"["example.com"]"#, .verified), ("a@gmai1.com", #""gmail.com""#, .verified),
        ("a@evil-example.com", #""example.com""#, .verified), ("a@example.com", #""com""#, .verified),
    ])
    func `Google runs gmail.com and the domain in hd, and no other`(
        email: String, hd: String?, trust: Identity.EmailTrust
    ) throws {
        #expect(try identity(email, hd: hd).emailTrust == trust)
    }

    @Test func `an address that Google has not verified is trusted for nothing, its own domains' too`() throws {
        for verified in ["false", #""false""#, "0"] {
            let identity = try SignIn.google.with("email", #""a@gmail.com""#).with("email_verified", verified).with(
                "hd", #""gmail.com""#
            )
            .verify().identity
            #expect(identity.emailTrust == .unverified)
        }
    }

    /// The two are canonically equivalent in Unicode, but they are different domains.
    @Test func `a hosted domain is the address's own, octet for octet`() throws {
        #expect(try identity("k@\u{e9}.example", hd: "\"\u{e9}.example\"").emailTrust == .authoritative)
        #expect(try identity("k@e\u{301}.example", hd: "\"\u{e9}.example\"").emailTrust == .verified)
    }

    @Test func `hd is reported`() throws {
        #expect(try identity("a@example.com", hd: #""example.com""#).hostedDomain == "example.com")
    }

    @Test func `Google's nonce is the raw one`() throws {
        let signIn = SignIn.google.with("nonce", #""n-0S6_WzA2Mj""#)
        #expect(try signIn.expecting { $0.nonce = "n-0S6_WzA2Mj" }.verify().nonceMatch == .plain)
    }

    @Test func `a good Apple token is none of Google's, and the other way round`() {
        #expect(SignIn.apple.policy { $0 = SignIn.google.policy }.rejection == .issuerMismatch)
        #expect(SignIn.google.policy { $0 = SignIn.apple.policy }.rejection == .issuerMismatch)
    }
}
