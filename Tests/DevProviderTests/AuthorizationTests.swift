@testable import DevProvider
import IDToken
import JOSE
import Testing

/// The authorization endpoint, and codes.
@Suite struct AuthorizationTests {
    private static let redirectURI = "https://example.com/callback"
    // RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge =
        "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

    private func provider(_ preset: ProviderPreset) throws -> EmulatedProvider {
        try Emulated.provider(preset, redirectURIs: [Self.redirectURI, "com.example.app:/callback"])
    }

    private func request(_ provider: EmulatedProvider, _ more: String = "") throws -> AuthorizationRequest {
        let query = "client_id=client&redirect_uri=\(Self.redirectURI)&response_type=code&state=s\(more)"
        return try AuthorizationRequest(try #require(FormParameters(query.utf8)), to: provider)
    }

    private func authorize(
        _ provider: inout EmulatedProvider, _ more: String = "",
        _ decision: EmulatedProvider.Decision = .signIn(Emulated.kim)
    ) throws -> [String: String] {
        let answer = try provider.respond(to: try request(provider, more), decision, now: Emulated.now)
        #expect(answer.redirectURI == Self.redirectURI)
        return Dictionary(uniqueKeysWithValues: answer.parameters.map { ($0.name, $0.value) })
    }

    private func exchange(
        _ provider: inout EmulatedProvider, _ code: String?, verifier: String = Self.verifier,
        redirectURI: String = Self.redirectURI, after seconds: Int64 = 1
    ) throws -> [String: JSONTree] {
        let form = try Emulated.form([
            "grant_type": "authorization_code", "code": try #require(code), "redirect_uri": redirectURI,
            "code_verifier": verifier, "client_id": "client", "client_secret": "anything",
        ])
        return try #require(provider.grant(form, authorization: nil, now: Emulated.now + seconds).object)
    }

    @Test func `a code is exchanged once, with PKCE`() throws {
        var provider = try provider(.google)
        let answer = try authorize(&provider, "&nonce=n\(Self.challenge)&scope=openid+email")
        #expect(answer["state"] == "s")
        #expect(answer["iss"] == provider.policy.issuer)
        let tokens = try exchange(&provider, answer["code"])
        let claims = try Emulated.claims(try #require(tokens["id_token"]?.string))
        #expect(claims["nonce"] == .string("n"))
        #expect(claims["at_hash"]?.string?.count == 22)
        #expect(tokens["refresh_token"]?.string != nil)
        #expect(throws: DevOAuthError.invalidGrant) { try exchange(&provider, answer["code"]) }
    }

    @Test(
        arguments: [
            (verifier: "wrong", redirectURI: redirectURI, seconds: Int64(1)),
            (verifier: verifier, redirectURI: redirectURI + "/", seconds: 1),
            (verifier: verifier, redirectURI: redirectURI, seconds: 300),
        ] as [(verifier: String, redirectURI: String, seconds: Int64)])
    func `a code of another request is refused`(verifier: String, redirectURI: String, seconds: Int64) throws {
        var provider = try provider(.google)
        let code = try authorize(&provider, Self.challenge)["code"]
        #expect(throws: DevOAuthError.invalidGrant) {
            try exchange(&provider, code, verifier: verifier, redirectURI: redirectURI, after: seconds)
        }
    }

    @Test func `Apple sends the name once, and only as a form`() throws {
        var provider = try provider(.apple)
        #expect(throws: DevRequestError.self) { try request(provider, "&scope=name") }
        let first = try authorize(&provider, "&scope=name&response_mode=form_post")
        #expect(first["user"] == #"{"name":{"firstName":"Kim","lastName":"Example"}}"#)
        #expect(try authorize(&provider, "&scope=name&response_mode=form_post")["user"] == nil)
        #expect(try authorize(&provider)["code"] != nil)
        // Whoever removes the app in their account starts anew.
        provider.grants.withdraw("kim")
        #expect(
            try authorize(&provider, "&scope=name%20email&response_mode=form_post")["user"]?.contains("email") == true)
    }

    @Test func `a person may cancel`() throws {
        var (apple, google) = (try provider(.apple), try provider(.google))
        #expect(try authorize(&apple, "", .cancel)["error"] == "user_cancelled_authorize")
        let answer = try authorize(&google, "", .cancel)
        #expect(answer["error"] == "access_denied")
        #expect(answer["code"] == nil)
        #expect(answer["state"] == "s")
    }

    @Test func `an ID Token beside the code never comes in the query`() throws {
        var provider = try provider(.oidc)
        let query = "client_id=client&redirect_uri=\(Self.redirectURI)&response_type=code%20id_token&nonce=n"
        let hybrid = try AuthorizationRequest(try #require(FormParameters(query.utf8)), to: provider)
        #expect(hybrid.mode == .fragment)
        let answer = try provider.respond(to: hybrid, .signIn(Emulated.kim), now: Emulated.now)
        let token = try #require(answer.parameters.first { $0.name == "id_token" }?.value)
        #expect(try Emulated.claims(token)["c_hash"] != nil)
        let inQuery = try #require(FormParameters((query + "&response_mode=query").utf8))
        #expect(throws: DevRequestError.self) { try AuthorizationRequest(inQuery, to: provider) }
    }

    @Test(arguments: [
        "client_id=other&redirect_uri=\(redirectURI)&response_type=code",
        "client_id=client&response_type=code",
        "client_id=client&redirect_uri=javascript:1&response_type=code",
        "client_id=client&redirect_uri=https://evil.example/callback&response_type=code",
        "client_id=client&redirect_uri=http://127.0.0.1.evil.example/&response_type=code",
        "client_id=client&redirect_uri=http://localhost%0d%0aX:1/&response_type=code",
        "client_id=client&redirect_uri=\(redirectURI)&response_type=token",
        "client_id=client&redirect_uri=\(redirectURI)&response_type=code&response_mode=web_message",
        "client_id=client&redirect_uri=\(redirectURI)&response_type=code&code_challenge=a&code_challenge_method=plain",
    ])
    func `a bad request is an error page`(query: String) throws {
        let provider = try provider(.google)
        let query = try #require(FormParameters(query.utf8))
        #expect(throws: DevRequestError.self) { try AuthorizationRequest(query, to: provider) }
    }

    @Test(arguments: [
        "http://localhost:3000/cb", "https://app.test/cb", "http://127.0.0.1:1/", "com.example.app:/callback",
    ])
    func `redirect URIs are the client's, or on this machine`(uri: String) throws {
        let query = try #require(FormParameters("client_id=client&redirect_uri=\(uri)&response_type=code".utf8))
        #expect(try AuthorizationRequest(query, to: provider(.google)).redirectURI == uri)
    }

    @Test func `a public client needs PKCE`() throws {
        let provider = try Emulated.provider(.oidc, .none, redirectURIs: [Self.redirectURI])
        #expect(throws: DevRequestError.self) { try request(provider) }
        #expect(try request(provider, Self.challenge).challenge != nil)
    }
}
