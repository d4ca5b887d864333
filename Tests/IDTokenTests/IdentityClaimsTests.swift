import IDToken
import SignInFixtures
import Testing

/// Providers that use other claims for members of the identity.
@Suite struct IdentityClaimsTests {
    private func mapping(_ claims: [IdentityMember: String]) -> SignIn {
        SignIn.plain.policy { $0.identityClaims = claims.mapValues { ClaimPath($0) } }
    }

    @Test func `a member comes from the claim that is named, and from no other`() throws {
        let signIn = mapping([.preferredUsername: "cognito:username", .tenant: "/o/id", .name: "nickname"])
            .with("preferred_username", #""other""#).with("tid", #""other""#).with("family_name", #""Lovelace""#)
        let without = try signIn.verify().identity
        #expect((without.preferredUsername, without.tenant, without.name) == (nil, nil, nil))
        #expect(without.familyName == "Lovelace")
        let identity = try signIn.with("cognito:username", #""ada""#).with("o", #"{"id":"org"}"#)
            .with("nickname", #""Ada""#).verify().identity
        #expect((identity.preferredUsername, identity.tenant, identity.name) == ("ada", "org", "Ada"))
        #expect(identity.nameSource == .token)
    }

    @Test func `every member can be named`() throws {
        let signIn = mapping(
            Dictionary(uniqueKeysWithValues: IdentityMember.allCases.map { ($0, "x_" + $0.rawValue) }))
        let named = IdentityMember.allCases.reduce(signIn) { $0.with("x_" + $1.rawValue, "\"\($1.rawValue)\"") }
        let identity = try named.with("x_email", #""a@b.example""#).verify().identity
        #expect(identity.email == "a@b.example")
        #expect((identity.name, identity.givenName, identity.familyName) == ("name", "given_name", "family_name"))
        #expect((identity.preferredUsername, identity.picture) == ("preferred_username", "picture"))
        #expect((identity.locale, identity.tenant) == ("locale", "tenant"))
        #expect((identity.hostedDomain, identity.transferSubject) == ("hosted_domain", "transfer_subject"))
    }

    @Test func `of a list the first text counts, and what is no text is nothing`() throws {
        let signIn = mapping([.email: "emails"])
        func email(_ json: String) throws -> String? { try signIn.with("emails", json).verify().identity.email }
        #expect(try email(#"["a@example.com","b@example.com"]"#) == "a@example.com")
        #expect(try email(#""a@example.com""#) == "a@example.com")
        for json in ["[]", "[1]", #"[""]"#, #""""#, "null", "{}", "5"] { #expect(try email(json) == nil, "\(json)") }
        #expect(try signIn.with("email", #""a@example.com""#).verify().identity.email == nil)
    }

    // MARK: E-mail addresses

    private func email(_ verification: EmailRule.Verification, _ claim: String, _ json: String?) throws -> Identity {
        let signIn = SignIn.plain.policy { $0.email.verification = verification }.with("email", #""a@example.com""#)
            .with("email_verified", "true")
        return try (json.map { signIn.with(claim, $0) } ?? signIn).verify().identity
    }

    @Test(arguments: ["true", #""true""#, "1", #""1""#])
    func `a claim of the provider's own can say that an address is verified`(json: String) throws {
        let identity = try email(.claim(ClaimPath("xms_edov")), "xms_edov", json)
        #expect(identity.isEmailVerified == true)
        #expect(identity.emailTrust == .verified)
    }

    @Test(arguments: [
        "false", "0", #""0""#, #""false""#, #""True""#, "2", "1.0", #""yes""#, #""""#, "null", "[]", "[true]", "{}",
        #"" true""#,
    ])
    func `whatever else it is, the address is not verified`(json: String) throws {
        let identity = try email(.claim(ClaimPath("xms_edov")), "xms_edov", json)
        #expect(identity.isEmailVerified == false)
        #expect(identity.emailTrust == .unverified)
    }

    @Test func `without it nothing is known, whatever email_verified says`() throws {
        let identity = try email(.claim(ClaimPath("xms_edov")), "xms_edov", nil)
        #expect(identity.isEmailVerified == nil)
        #expect(identity.emailTrust == .unverified)
    }

    @Test func `of a provider that verifies none, no address is verified`() throws {
        let identity = try email(.nothing, "x", nil)
        #expect(identity.isEmailVerified == false)
        #expect(identity.emailTrust == .unverified)
        let none = try SignIn.plain.policy { $0.email.verification = .nothing }.verify().identity
        #expect((none.isEmailVerified, none.emailTrust) == (nil, nil))
    }
}
