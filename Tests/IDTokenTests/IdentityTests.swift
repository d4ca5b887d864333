import IDToken
import SignInFixtures
import Testing
import TestSupport

/// The identity in a token, in the form that is the same for every provider.
@Suite struct IdentityTests {
    @Test func `what the token does not say is nil`() throws {
        let verified = try SignIn.plain.verify()
        #expect(verified.tokenID == nil && verified.sessionID == nil && verified.authenticationContextClass == nil)
        #expect(verified.authenticationMethods == [])
        #expect(verified.identity.tenant == nil && verified.identity.hostedDomain == nil)
        #expect(
            verified.identity.preferredUsername == nil && verified.identity.picture == nil
                && verified.identity.locale == nil)
    }

    @Test func `identity claims are reported`() throws {
        let verified = try SignIn.plain.with("jti", #""j""#).with("sid", #""s""#).with("acr", #""urn:mace:silver""#)
            .with("amr", #"["pwd","mfa"]"#).with("tid", #""t""#).with("preferred_username", #""ada""#).verify()
        #expect(
            (verified.tokenID, verified.sessionID, verified.authenticationContextClass) == ("j", "s", "urn:mace:silver")
        )
        #expect(verified.authenticationMethods == ["pwd", "mfa"])
        #expect((verified.identity.tenant, verified.identity.preferredUsername) == ("t", "ada"))
    }

    /// Other providers may use claims of these names with another meaning.
    @Test func `hosted domain and transfer subject are reported only for providers that have them`() throws {
        let signIn = SignIn.plain.with("hd", #""h""#).with("transfer_sub", #""moved""#)
        #expect(try signIn.verify().identity == SignIn.plain.verify().identity)
        let both = signIn.policy {
            $0.reportsHostedDomain = true
            $0.reportsTransferSubject = true
        }
        #expect(try both.verify().identity.hostedDomain == "h")
        #expect(try both.verify().identity.transferSubject == "moved")
        let named = signIn.with("moved_from", #""m""#).policy {
            $0.identityClaims = [.transferSubject: ClaimPath("moved_from")]
        }
        #expect(try named.verify().identity.transferSubject == "m")
        #expect(try named.verify().identity.hostedDomain == nil)
        #expect(try signIn.policy { $0.email.trustsHostedDomain = true }.verify().identity.hostedDomain == "h")
    }

    @Test func `only Google hosts domains, and only Apple transfers subjects`() {
        let hosts = ProviderPreset.all.filter { $0.facts([:]).policy.reportsHostedDomain }.map(\.name)
        let transfers = ProviderPreset.all.filter { $0.facts([:]).policy.reportsTransferSubject }.map(\.name)
        #expect((hosts, transfers) == (["google", "google-iap"], ["apple"]))
    }

    /// LinkedIn's `locale` is an object. No decision depends on such a claim.
    @Test(arguments: [
        "jti", "sid", "acr", "tid", "preferred_username", "hd", "name", "given_name", "family_name", "picture",
        "locale", "transfer_sub",
    ])
    func `a claim that only describes may be of any type`(claim: String) throws {
        for json in ["5", "null", "true", "[]", #"{"country":"US","language":"en"}"#] {
            let verified = try SignIn.plain.with(claim, json).verify()
            #expect(verified.identity == (try SignIn.plain.verify().identity))
        }
    }

    @Test(arguments: [
        ("[]", []), (#""pwd""#, ["pwd"]), (#"["pwd",5,null,["x"],"otp"]"#, ["pwd", "otp"]), ("5", []), ("null", []),
        ("{}", []),
    ])
    func `amr is a list of strings, however it is sent`(json: String, expected: [String]) throws {
        #expect(try SignIn.plain.with("amr", json).verify().authenticationMethods == expected)
    }

    @Test(arguments: ["email_verified", "is_private_email"])
    func `a boolean has six forms and no seventh`(claim: String) throws {
        let signIn = SignIn.plain.with("email", #""a@b.example""#)
        func value(_ json: String) throws -> Bool? {
            let identity = try signIn.with(claim, json).verify().identity
            return claim == "email_verified" ? identity.isEmailVerified : identity.isPrivateEmail
        }
        for json in ["true", #""true""#, "1"] { #expect(try value(json) == true, "\(json)") }
        for json in ["false", #""false""#, "0", "-0"] { #expect(try value(json) == false, "\(json)") }
        #expect(try signIn.verify().identity.isEmailVerified == nil)
        #expect(try signIn.verify().identity.isPrivateEmail == nil)
        for json in [
            "null", #""TRUE""#, #""True""#, #""yes""#, #""no""#, #""1""#, #""0""#, #""""#, #"" true""#, #""true ""#,
            "2", "-1", "1.0",
            "0.0", "1e0", "[]", "[true]", "{}", "99999999999999999999",
        ] {
            #expect(signIn.with(claim, json).rejection == .invalid(claim), "\(json)")
        }
    }

    @Test(arguments: ["5", "true", "[]", #"["a@b"]"#, "{}"])
    func `an address that is no string is invalid`(json: String) {
        #expect(SignIn.plain.with("email", json).rejection == .invalid("email"))
    }

    @Test func `an address that is null or empty is none`() throws {
        for json in ["null", #""""#] {
            let identity = try SignIn.plain.with("email", json).with("email_verified", "true").verify().identity
            #expect(identity.email == nil)
            #expect(identity.emailTrust == nil)
            #expect(identity.isPrivateEmail == nil)
            #expect(identity.isEmailVerified == nil)
        }
    }

    @Test func `an email address is reported as written`() throws {
        for email in ["A.B+c@Example.COM", "ü@münchen.example"] {
            #expect(try SignIn.plain.with("email", "\"\(email)\"").verify().identity.email == email)
        }
    }

    @Test func `a provider that runs no mailboxes is never authoritative`() throws {
        func trust(_ verified: String?) throws -> Identity.EmailTrust? {
            var signIn = SignIn.plain.with("email", #""a@gmail.com""#).with("hd", #""gmail.com""#)
            if let verified { signIn = signIn.with("email_verified", verified) }
            return try signIn.verify().identity.emailTrust
        }
        #expect(try trust("true") == .verified)
        #expect(try trust("false") == .unverified)
        #expect(try trust(nil) == .unverified)
    }

    @Test func `configured domains are compared without regard to case`() throws {
        let signIn = SignIn.plain.with("email", #""a@Corp.Example""#).with("email_verified", "true").policy {
            $0.email.authoritativeDomains = ["CORP.example"]
            $0.email.privateDomains = ["Relay.Example"]
        }
        #expect(try signIn.verify().identity.emailTrust == .authoritative)
        #expect(try signIn.verify().identity.isPrivateEmail == false)
        #expect(try signIn.with("email", #""a@rELAY.example""#).verify().identity.isPrivateEmail == true)
    }

    @Test func `names come from the token, or all of them from the app`() throws {
        let app = SignIn.plain.expecting { $0.clientName = ClientName(givenName: "Mallory", familyName: "Client") }
        let signed = try app.with("family_name", #""Lovelace""#).verify().identity
        #expect((signed.name, signed.givenName, signed.familyName) == (nil, nil, "Lovelace"))
        #expect(signed.nameSource == .token)
        let unsigned = try app.verify().identity
        #expect((unsigned.name, unsigned.givenName, unsigned.familyName) == ("Mallory Client", "Mallory", "Client"))
        #expect(unsigned.nameSource == .client)
    }

    @Test func `the claims' text is the payload, to the byte`() throws {
        let signIn = SignIn.plain.with("n", "[1e3, 12345678901234567890, 1.10, -0, \"\\u0041\\/\" ]").with("z", "{ }")
        #expect(try String(decoding: signIn.verify().claimsText, as: UTF8.self) == signIn.claims.json)
    }

    @Test func `a claims set of escapes near the limit is read`() throws {
        let escapes = String(repeating: #"\u00e9"#, count: 1_900)
        #expect(
            try SignIn.plain.with("name", "\"\(escapes)\"").verify().identity.name
                == String(repeating: "\u{e9}", count: 1_900))
    }

    @Test func `an integer beyond 64 bits that nobody reads does no harm`() throws {
        #expect(try SignIn.plain.with("x", "123456789012345678901234567890").verify().identity.subject == "user")
    }
}
