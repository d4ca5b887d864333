@testable import IDToken
import JOSE
import Testing

/// What the user info endpoint adds to an identity.
@Suite struct UserInfoTests {
    private static func completed(
        _ token: String, by userInfo: String, clientName: ClientName? = nil
    ) throws -> Identity {
        var policy = ProviderPolicy(id: "p", issuer: "https://idp.example", audiences: ["a"])
        policy.email.authoritativeDomains = ["example.com"]
        policy.email.trustsHostedDomain = true
        policy.reportsHostedDomain = true
        policy.identityClaims = [.tenant: ClaimPath("tid")]
        policy.requiredClaims = [ClaimName("email")]
        let identity = try Identity(
            Claims(try JSONObject(Array(token.utf8))), issuer: policy.issuer, subject: "1", relaxed(policy),
            clientName: clientName)
        return try identity.completed(byUserInfo: try JSONObject(Array(userInfo.utf8)), policy)
    }

    private static func relaxed(_ policy: ProviderPolicy) -> ProviderPolicy {
        var policy = policy
        policy.requiredClaims = []
        return policy
    }

    @Test func `it completes what the token lacks`() throws {
        let identity = try Self.completed(
            "{}",
            by:
                #"{"sub":"1","email":"a@b.example","email_verified":true,"name":"Ada","locale":"en","picture":"p","preferred_username":"u"}"#
        )
        #expect(identity.email == "a@b.example" && identity.isEmailVerified == true && identity.emailTrust == .verified)
        #expect(identity.name == "Ada" && identity.nameSource == .userInfo)
        #expect(identity.locale == "en" && identity.picture == "p" && identity.preferredUsername == "u")
        #expect(identity.subject == "1" && identity.issuer == "https://idp.example")
    }

    @Test func `the token wins, and an address and its verification are from one source`() throws {
        let identity = try Self.completed(
            #"{"email":"t@example.com","name":"Token","locale":"de"}"#,
            by: #"{"sub":"1","email":"u@example.com","email_verified":true,"given_name":"User","locale":"en"}"#)
        #expect(identity.email == "t@example.com" && identity.isEmailVerified == nil)
        #expect(identity.emailTrust == .unverified)
        #expect(identity.name == "Token" && identity.givenName == nil && identity.nameSource == .token)
        #expect(identity.locale == "de")
    }

    @Test func `a name from the provider is better than one from the app`() throws {
        let app = ClientName(givenName: "App", familyName: "Name")
        let identity = try Self.completed("{}", by: #"{"sub":"1","given_name":"Info"}"#, clientName: app)
        #expect(identity.givenName == "Info" && identity.familyName == nil && identity.nameSource == .userInfo)
        #expect(try Self.completed("{}", by: #"{"sub":"1"}"#, clientName: app).nameSource == .client)
    }

    @Test(arguments: [#""hd":"corp.example","email":"a@corp.example""#, #""email":"a@example.com""#])
    func `an address that nobody signed is never authoritative`(members: String) throws {
        let identity = try Self.completed("{}", by: #"{"sub":"1","email_verified":true,\#(members)}"#)
        #expect(identity.emailTrust == .verified)
    }

    @Test func `what backends authorize by is the token's alone`() throws {
        let identity = try Self.completed("{}", by: #"{"sub":"1","hd":"corp.example","tid":"t"}"#)
        #expect(identity.hostedDomain == nil && identity.tenant == nil)
    }

    @Test(arguments: [#"{"email":1}"#, #"{"email":"a@b.example","email_verified":"perhaps"}"#])
    func `a claim of another type is refused`(userInfo: String) throws {
        #expect(throws: Rejection.self) { try Self.completed("{}", by: userInfo) }
    }
}

/// Claims that another party asserts.
@Suite struct UserInfoClaimsTests {
    private static func claims(_ json: String) throws -> UserInfoClaims { try UserInfoClaims(Array(json.utf8)) }

    @Test func `without any, the claims are those that came`() throws {
        for json in [#"{"sub":"1","email":"a@b.example"}"#, #"{"sub":"1","email":"a@b.example","_claim_names":null}"#] {
            let claims = try Self.claims(json)
            #expect(claims.unverified.isEmpty && claims.object["email"]?.string == "a@b.example")
        }
    }

    @Test func `their names are listed, and their values left out`() throws {
        let claims = try Self.claims(
            #"{"sub":"1","name":"A","email":"a@b.example","_claim_names":{"z":"s","email":"s"},"_claim_sources":{"s":{"JWT":"x"}}}"#
        )
        #expect(claims.unverified == ["email", "z"])
        #expect(claims.object["email"] == nil && claims.object["name"]?.string == "A")
    }

    @Test func `what is left is written as it came`() throws {
        let claims = try Self.claims(
            #"{"sub":"1","n":99999999999999999999,"d":1.50,"t":"\u00e9\"","o":{"a":[1]},"_claim_names":{"email":"s"}}"#)
        #expect(String(decoding: claims.object["n"]!.json, as: UTF8.self) == "99999999999999999999")
        #expect(String(decoding: claims.object["d"]!.json, as: UTF8.self) == "1.50")
        #expect(claims.object["t"]?.string == "\u{e9}\"" && claims.object["o"]?.object?["a"]?.elements?.count == 1)
    }

    @Test(arguments: ["[]", "1", #""email""#])
    func `names that are no object are refused`(names: String) {
        #expect(throws: Rejection.claimInvalid(.claimNames)) { try Self.claims(#"{"_claim_names":\#(names)}"#) }
    }
}
