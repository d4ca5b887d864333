@testable import DevProvider
import IDToken
import JOSE
import Testing

/// What tokens have, by preset and by the rules of the settings.
@Suite struct DialectTests {
    private func token(
        _ provider: EmulatedProvider, _ person: Person = Emulated.kim, nonce: String? = nil, scopes: [String]? = nil
    ) throws -> [String: JSONTree] {
        try provider.idTokenClaims(
            EmulatedProvider.TokenRequest(person: person, clientID: "client", nonce: nonce, scopes: scopes),
            now: Emulated.now)
    }

    @Test(arguments: ProviderPreset.all.map(\.name))
    func `the tokens of every preset pass its own rules`(name: String) throws {
        let provider = try Emulated.provider(try #require(ProviderPreset.named(name)))
        let isHashed = provider.policy.nonce.accepted == [.sha256Hex]
        // RFC 6234: the SHA-256 of "abc".
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let claims = try token(provider, nonce: isHashed ? hash : "abc")
        let signed = try provider.keys.sign(claims, type: provider.dialect.headerType)
        let verifier = try IDTokenVerifier()
        var parameters = VerificationParameters()
        if provider.policy.nonce.isChecked { parameters.nonce = "abc" }
        let verified = try verifier.verify(
            verifier.read(Array(signed.utf8)[...]), with: Emulated.keys(provider), under: provider.policy,
            expecting: parameters, now: UnixTime(seconds: Emulated.now))
        #expect(verified.identity.subject == claims["sub"]?.string)
        #expect(verified.identity.issuer.hasPrefix("http://127.0.0.1:9400/p"))
    }

    @Test(arguments: SignatureAlgorithm.allCases)
    func `a provider whose only algorithm this is signs with it`(algorithm: SignatureAlgorithm) throws {
        let provider = try Emulated.provider(.oidc) { $0.algorithms = SignatureAlgorithms([algorithm]) }
        let signed = try provider.keys.sign(try token(provider), type: nil)
        let verifier = try IDTokenVerifier()
        var parameters = VerificationParameters()
        parameters.nonceUse = .ignoreFromClient
        let verified = try verifier.verify(
            verifier.read(Array(signed.utf8)[...]), with: Emulated.keys(provider), under: provider.policy,
            expecting: parameters, now: UnixTime(seconds: Emulated.now))
        #expect(verified.identity.provider == "p")
    }

    @Test func `Apple's booleans are texts, the name is in no token, and only apps get the status`() throws {
        let apple = try Emulated.provider(.apple)
        let native = try token(apple)
        #expect(native["email"]?.string?.hasSuffix("@privaterelay.appleid.com") == true)
        #expect(native["is_private_email"] == .string("true"))
        #expect(native["email_verified"] == .string("true"))
        #expect(native["real_user_status"] == .integer(2))
        #expect(native["name"] == nil)
        #expect(native["exp"] == .integer(Emulated.now + 86_400))
        #expect(try token(apple, scopes: ["email"])["real_user_status"] == nil)
        #expect(try token(apple, scopes: [])["email"] == nil)
        #expect(apple.dialect.headerType == nil)
        var open = Emulated.kim
        open.hidesEmail = false
        #expect(try token(apple, open)["email"] == .string("kim@example.com"))
        #expect(try token(apple, open)["is_private_email"] == nil)
    }

    @Test func `Google names the domain and the party, but no domain of personal accounts`() throws {
        let google = try Emulated.provider(.google)
        let claims = try token(google)
        #expect(claims["hd"] == .string("example.com"))
        #expect(claims["azp"] == .string("client"))
        #expect(claims["email_verified"] == .bool(true))
        #expect(claims["name"] == .string("Kim Example"))
        let personal = Person(id: "a", name: "A", email: "a@gmail.com")
        #expect(try token(google, personal)["hd"] == nil)
        #expect(try token(google, scopes: ["openid"])["name"] == nil)
        #expect(try token(google, scopes: ["openid", "profile"])["name"] != nil)
    }

    @Test func `Microsoft's issuer is the tenant's, and its keys name it`() throws {
        let microsoft = try Emulated.provider(.microsoft)
        let claims = try token(microsoft)
        let tenant = try #require(Emulated.arguments["tenant"])
        #expect(claims["tid"] == .string(tenant))
        #expect(claims["iss"] == .string("http://127.0.0.1:9400/p/\(tenant)/v2.0"))
        #expect(claims["ver"] == .string("2.0"))
        #expect(claims["oid"]?.string != nil)
        let key = try #require(microsoft.keySet.object?["keys"]?.array?.first?.object)
        #expect(key["issuer"] == .string("http://127.0.0.1:9400/p/{tid}/v2.0"))
        var foreigner = Emulated.kim
        foreigner.tenant = "another"
        #expect(try token(microsoft, foreigner)["tid"] == .string("another"))
    }

    @Test func `tokens have the claims that the settings ask for`() throws {
        let provider = try Emulated.provider(.oidc) {
            $0.claimRules = [
                ClaimRule(ClaimPath("/org/plan"), .oneOf, ["pro", "team"]), ClaimRule(ClaimPath("x"), .noneOf, ["1"]),
            ]
            $0.requiredClaims = [ClaimName("acr"), ClaimName("email")]
            $0.identityClaims = [.email: ClaimPath("mail"), .tenant: ClaimPath("/org/id")]
        }
        var person = Emulated.kim
        person.tenant = "acme"
        let claims = try token(provider, person)
        #expect(claims["org"] == .object(["plan": .string("pro"), "id": .string("acme")]))
        #expect(claims["x"] == nil)
        #expect(claims["acr"] == .string("development"))
        #expect(claims["mail"] == .string("kim@example.com"))
    }

    @Test func `a person is another at each provider, and the same each time`() throws {
        let (apple, google) = (try Emulated.provider(.apple), try Emulated.provider(.google))
        let subject = try apple.subject(of: Emulated.kim)
        #expect(subject.split(separator: ".").map(\.count) == [6, 32, 4])
        #expect(try google.subject(of: Emulated.kim).count == 21)
        #expect(try apple.subject(of: Emulated.kim) == subject)
        #expect(try apple.subject(of: Person(id: "alex", name: "A", email: "a@b.c")) != subject)
    }
}
