import IDToken
import SignInFixtures
import Testing
import TestSupport
import TokenDiagnostics

/// Distinguishing access tokens from ID Tokens without a nonce.
@Suite struct TokenKindTests {
    private static let claims = [("scope", #""openid email""#), ("scp", #"["openid"]"#), ("client_id", #""client""#)]
    private static let markers = [
        ("at_hash", #""HK6E_P6Dh8Y93mRNtsDB1Q""#), ("c_hash", #""HK6E_P6Dh8Y93mRNtsDB1Q""#),
        ("auth_time", "1700000000"),
        ("sid", #""s1""#),
    ]

    @Test(arguments: claims)
    func `a claim of access tokens refuses a token without a nonce`(claim: String, json: String) {
        #expect(SignIn.plain.with(claim, json).rejection == .invalid(claim))
    }

    @Test(arguments: claims)
    func `whatever its value is`(claim: String, json: String) {
        for json in ["null", #""""#, "5", "[]", "{}"] {
            #expect(SignIn.plain.with(claim, json).rejection == .invalid(claim), "\(json)")
        }
    }

    @Test(arguments: claims, markers)
    func `a claim that only ID Tokens have outweighs it`(claim: (String, String), marker: (String, String)) {
        #expect(SignIn.plain.with(claim.0, claim.1).with(marker.0, marker.1).rejection == nil)
    }

    @Test func `authentication at the epoch is a value`() {
        #expect(SignIn.plain.with("scope", #""openid""#).with("auth_time", "0").rejection == nil)
    }

    @Test(arguments: markers)
    func `a marker without a value marks nothing`(marker: String, json: String) {
        // `auth_time` must be a number if it is checked; the others may be of any type.
        for json in marker == "auth_time" ? ["null"] : ["null", #""""#] {
            #expect(SignIn.plain.with("scope", #""openid""#).with(marker, json).rejection != nil, "\(json)")
        }
    }

    @Test func `the first such claim is named`() {
        let signIn = SignIn.plain.with("client_id", #""client""#).with("scp", "[]").with("scope", #""openid""#)
        #expect(signIn.rejection == .invalid("scope"))
        #expect(signIn.without("scope").rejection == .invalid("scp"))
    }

    @Test(arguments: ["Scope", "scopes", "scp2", "clientid", "client-id", "cid", "azp"])
    func `other names are other claims`(claim: String) {
        #expect(SignIn.plain.with(claim, #""client""#).rejection == nil)
    }

    @Test func `a nonce that matches ties the token to a sign-in`() {
        let signIn = SignIn.plain.with("scope", #""openid""#).with("nonce", #""n""#)
        #expect(signIn.expecting { $0.nonce = "n" }.rejection == nil)
        #expect(signIn.rejection == .nonceRequired)
        #expect(SignIn.plain.with("scope", #""openid""#).expecting { $0.nonce = "n" }.rejection == .nonceMissing)
    }

    @Test func `a nonce that is not compared does not bind the token`() {
        let signIn = SignIn.plain.with("scope", #""openid""#).policy { $0.nonce.isChecked = false }
        #expect(signIn.rejection == .invalid("scope"))
        #expect(signIn.expecting { $0.nonce = "n" }.rejection == .invalid("scope"))
        #expect(signIn.with("nonce", #""n""#).rejection == nil)
        #expect(signIn.with("nonce", "null").rejection == .invalid("scope"))
    }

    @Test func `the rule can be switched off`() {
        let signIn = SignIn.plain.with("scope", #""openid""#).policy { $0.refusesAccessTokens = false }
        #expect(signIn.rejection == nil)
        #expect(signIn.explanation[.tokenKind].state == .notAsked)
    }

    @Test func `it is on for providers of which nothing is known, and for those that share keys with access tokens`() {
        let on = ProviderPreset.all.filter { $0.facts([:]).policy.refusesAccessTokens }.map(\.name)
        #expect(on == ["dex", "kinde", "oidc", "ory", "spring-authorization-server", "workos-authkit"])
        #expect(ProviderPolicy(id: "p", issuer: "https://a.example", audiences: ["a"]).refusesAccessTokens)
    }

    /// As Keycloak and Ory Hydra issue them to a client that is its own audience.
    @Test func `access tokens of real shape are refused, and ID Tokens are not`() {
        let access = SignIn.plain.with("client_id", #""client""#).with("jti", #""j""#).with("nbf", "1700000000")
            .with("scp", #"["openid","offline"]"#).with("ext", "{}")
        #expect(access.rejection == .invalid("scp"))
        #expect(GoldenToken.ory.signIn.with("scp", #"["openid"]"#).rejection == nil)
        #expect(GoldenToken.oidc.signIn.with("scope", #""openid""#).rejection == nil)
    }

    @Test func `an explanation names the suspicious claims, and what to send`() {
        let check = SignIn.plain.with("scope", #""openid""#).with("client_id", #""client""#).explanation[.tokenKind]
        #expect(check.refusal?.code == "claim_invalid")
        #expect(check.explanation.contains("it has scope and client_id, but no nonce"))
        #expect(check.fix?.contains("Send the id_token") == true)
        #expect(check.found == "scope, client_id")
        let withNonce = SignIn.plain.with("nonce", #""n""#).expecting { $0.nonce = "n" }
        #expect(withNonce.explanation[.tokenKind].state == .notAsked)
        #expect(SignIn.plain.explanation[.tokenKind].state == .passed)
    }
}
