import IDToken
import JOSE
import JSON
import Notifications
import Testing

@testable import DevProvider

/// Endpoints of OAuth 2.0 and notifications, without a server.
@Suite struct EndpointTests {
    private static let now: Int64 = 1_700_000_000
    private static let redirectURI = "https://example.com/callback"

    /// One of each kind, whose keys all tests share: generating a key takes most of a test's time.
    private static let providers = Dictionary(
        uniqueKeysWithValues: DevProviderKind.allCases.map { kind in
            let issuer = "http://127.0.0.1/\(kind.rawValue)"
            return (kind, Result { try SimulatedProvider(kind, issuer: issuer, audience: "client") })
        })

    private func provider(_ kind: DevProviderKind) throws -> SimulatedProvider {
        try #require(Self.providers[kind]).get()
    }

    private func form(_ members: KeyValuePairs<String, String>) throws -> FormParameters {
        try #require(FormParameters(members.map { "\($0)=\($1)" }.joined(separator: "&").utf8))
    }

    private func claims(_ token: String) throws -> [String: JSONTree] {
        let payload = try CompactJWS(token).payload
        return try #require(JSONTree(readingObject: payload).object)
    }

    private func appleSecret(_ changes: [String: JSONTree?] = [:]) throws -> String {
        var claims: [String: JSONTree] = [
            "iss": .string("TEAM"), "sub": .string("client"), "aud": .string("https://appleid.apple.com"),
            "iat": .integer(Self.now), "exp": .integer(Self.now + 300),
        ]
        for (name, value) in changes { claims[name] = value }
        var json = JSONWriter()
        json.value(.object(claims))
        func part(_ octets: [UInt8]) -> String { String(decoding: Base64URL.encode(octets), as: UTF8.self) }
        return [
            part(Array(#"{"alg":"ES256","kid":"KEY"}"#.utf8)), part(json.bytes), part([UInt8](repeating: 1, count: 64)),
        ]
        .joined(separator: ".")
    }

    private func authorize(
        _ provider: inout SimulatedProvider, _ more: String = ""
    ) throws -> [String: String] {
        let query = "client_id=client&redirect_uri=\(Self.redirectURI)&response_type=code&state=s\(more)"
        let answer = try provider.authorize(try #require(FormParameters(query.utf8)), now: Self.now)
        #expect(answer.redirectURI == Self.redirectURI)
        return Dictionary(uniqueKeysWithValues: answer.parameters.map { ($0.name, $0.value) })
    }

    // MARK: Codes

    @Test func `a code is exchanged once, with PKCE`() throws {
        var provider = try provider(.google)
        // RFC 7636, appendix B.
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        let answer = try authorize(
            &provider, "&nonce=n&code_challenge=\(challenge)&code_challenge_method=S256&scope=openid+email")
        #expect(answer["state"] == "s")
        #expect(answer["iss"] == provider.issuer)
        let code = try #require(answer["code"])
        func exchange(_ verifier: String, redirectURI: String = Self.redirectURI) throws -> [String: JSONTree] {
            let form = try form([
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI,
                "code_verifier": verifier, "client_id": "client", "client_secret": "dev-client-secret",
            ])
            return try #require(provider.grant(form, authorization: nil, now: Self.now + 1).object)
        }
        let tokens = try exchange("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(try claims(try #require(tokens["id_token"]?.string))["nonce"] == .string("n"))
        #expect(tokens["refresh_token"]?.string != nil)
        #expect(throws: DevOAuthError.invalidGrant) { try exchange("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") }
    }

    @Test(arguments: [
        (verifier: "wrong", redirectURI: redirectURI, seconds: Int64(1)),
        (verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", redirectURI: redirectURI + "/", seconds: 1),
        (verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", redirectURI: redirectURI, seconds: 300),
    ])
    func `a code of another request is refused`(verifier: String, redirectURI: String, seconds: Int64) throws {
        var provider = try provider(.google)
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        let answer = try authorize(&provider, "&code_challenge=\(challenge)&code_challenge_method=S256")
        let form = try form([
            "grant_type": "authorization_code", "code": try #require(answer["code"]), "redirect_uri": redirectURI,
            "code_verifier": verifier, "client_id": "client", "client_secret": "dev-client-secret",
        ])
        #expect(throws: DevOAuthError.invalidGrant) {
            try provider.grant(form, authorization: nil, now: Self.now + seconds)
        }
    }

    @Test func `a native app's code needs no redirect URI`() throws {
        var provider = try provider(.apple)
        let code = try provider.nativeCode(nonceClaim: "hash", now: Self.now)
        let form = try form([
            "grant_type": "authorization_code", "code": code, "client_id": "client", "client_secret": try appleSecret(),
        ])
        let tokens = try #require(provider.grant(form, authorization: nil, now: Self.now).object)
        #expect(try claims(try #require(tokens["id_token"]?.string))["nonce"] == .string("hash"))
    }

    // MARK: Authorization

    @Test func `Apple sends the name once, and only as a form`() throws {
        var provider = try provider(.apple)
        #expect(throws: DevOAuthError.invalidRequest) { try authorize(&provider, "&scope=name") }
        #expect(try authorize(&provider, "&scope=name&response_mode=form_post")["user"]?.contains("Kim") == true)
        #expect(try authorize(&provider, "&scope=name&response_mode=form_post")["user"] == nil)
        #expect(try authorize(&provider)["code"] != nil)
    }

    @Test func `a user may cancel`() throws {
        var (apple, google) = (try provider(.apple), try provider(.google))
        #expect(try authorize(&apple, "&login_hint=cancel")["error"] == "user_cancelled_authorize")
        let answer = try authorize(&google, "&login_hint=cancel")
        #expect(answer["error"] == "access_denied")
        #expect(answer["code"] == nil)
        #expect(answer["state"] == "s")
    }

    @Test(arguments: [
        ("client_id=other&redirect_uri=https://a.example&response_type=code", DevOAuthError.invalidClient),
        ("client_id=client&response_type=code", .invalidRequest),
        ("client_id=client&redirect_uri=javascript:1&response_type=code", .invalidRequest),
        ("client_id=client&redirect_uri=https://a.example&response_type=token", .unsupportedResponseType),
        (
            "client_id=client&redirect_uri=https://a.example&response_type=code&code_challenge=a&code_challenge_method=plain",
            .invalidRequest
        ),
    ])
    func `a bad authorization request is an error page`(query: String, error: DevOAuthError) throws {
        var provider = try provider(.google)
        let query = try #require(FormParameters(query.utf8))
        #expect(throws: error) { try provider.authorize(query, now: Self.now) }
    }

    // MARK: Clients

    @Test func `the client's secret is in the body or in HTTP Basic`() throws {
        var provider = try provider(.google)
        func error(_ members: KeyValuePairs<String, String>, _ authorization: String? = nil) throws -> DevOAuthError? {
            do {
                _ = try provider.grant(try form(members), authorization: authorization, now: Self.now)
                return nil
            } catch let error as DevOAuthError {
                return error
            }
        }
        // An unknown refresh token shows that the client was authenticated.
        let request: KeyValuePairs = ["grant_type": "refresh_token", "refresh_token": "r"]
        let (id, good) = ("Y2xpZW50OmRldi1jbGllbnQtc2VjcmV0", "dev-client-secret")
        #expect(try error(request, "Basic \(id)") == .invalidGrant)
        #expect(try error(request, "Basic Y2xpZW50Ong=") == .invalidClient)
        #expect(try error(request) == .invalidClient)
        let inBody: KeyValuePairs = [
            "grant_type": "refresh_token", "refresh_token": "r", "client_id": "client", "client_secret": good,
        ]
        #expect(try error(inBody) == .invalidGrant)
        #expect(try error(inBody, "Basic \(id)") == .invalidRequest)
        #expect(try error(["client_id": "client", "client_secret": good]) == .unsupportedGrantType)
    }

    @Test(arguments: [
        ("sub", JSONTree.string("other")), ("aud", .string("https://a.example")), ("exp", .integer(now)), ("exp", nil),
        ("exp", .integer(now + 15_777_001)), ("iat", .integer(now + 1)), ("iss", nil),
    ])
    func `Apple's client secret has its claims`(claim: String, value: JSONTree?) throws {
        var provider = try provider(.apple)
        func error(_ secret: String) throws -> DevOAuthError? {
            let form = try form([
                "grant_type": "refresh_token", "refresh_token": "r", "client_id": "client", "client_secret": secret,
            ])
            do {
                _ = try provider.grant(form, authorization: nil, now: Self.now)
                return nil
            } catch let error as DevOAuthError {
                return error
            }
        }
        #expect(try error(appleSecret()) == .invalidGrant)
        #expect(try error(appleSecret([claim: value])) == .invalidClient)
        #expect(try error("dev-client-secret") == .invalidClient)
    }

    // MARK: Refresh, revocation, user info

    @Test(arguments: [(DevProviderKind.apple, DevOAuthError.invalidRequest), (.google, .invalidGrant)])
    func `a refresh token stays until it is revoked`(kind: DevProviderKind, error: DevOAuthError) throws {
        var provider = try provider(kind)
        let secret = kind == .apple ? try appleSecret() : "dev-client-secret"
        let code = try provider.nativeCode(nonceClaim: nil, now: Self.now)
        let first = try provider.grant(
            form(["grant_type": "authorization_code", "code": code, "client_id": "client", "client_secret": secret]),
            authorization: nil, now: Self.now)
        let token = try #require(first.object?["refresh_token"]?.string)
        let refresh = try form([
            "grant_type": "refresh_token", "refresh_token": token, "client_id": "client", "client_secret": secret,
        ])
        let second = try #require(provider.grant(refresh, authorization: nil, now: Self.now).object)
        #expect(second["refresh_token"] == nil)
        #expect(second["access_token"] != first.object?["access_token"])
        let revocation = try form(["token": token, "client_id": "client", "client_secret": secret])
        try provider.revoke(revocation, authorization: nil, now: Self.now)
        try provider.revoke(revocation, authorization: nil, now: Self.now)
        #expect(throws: error) { try provider.grant(refresh, authorization: nil, now: Self.now) }
    }

    @Test func `user info is for an access token`() throws {
        var provider = try provider(.google)
        let code = try provider.nativeCode(nonceClaim: nil, now: Self.now)
        let tokens = try provider.grant(
            form([
                "grant_type": "authorization_code", "code": code, "client_id": "client",
                "client_secret": "dev-client-secret",
            ]), authorization: nil, now: Self.now)
        let token = try #require(tokens.object?["access_token"]?.string)
        #expect(provider.userInfo(authorization: "Bearer \(token)")?.object?["sub"] == .string(provider.subject))
        #expect(provider.userInfo(authorization: "Bearer x") == nil)
        #expect(provider.userInfo(authorization: nil) == nil)
    }

    // MARK: Notifications

    @Test(arguments: [
        (DevProviderKind.apple, "consent-revoked", NotifiedEvent.EventType.consentRevoked),
        (.apple, "email-disabled", .emailRelayDisabled), (.google, "logout", .loggedOut),
        (.google, "account-disabled", .accountDisabled), (.google, "made-up", .other),
    ])
    func `notifications are as the provider sends them`(
        kind: DevProviderKind, type: String, expected: NotifiedEvent.EventType
    ) throws {
        let provider = try provider(kind)
        let body = try provider.notification(type, overriding: [:], id: "1", now: Self.now)
        let sent = try #require((body.object?["payload"] ?? body.object?["token"])?.string)
        var json = JSONWriter()
        json.value(provider.keySet)
        let policy = try #require(ProviderPreset.named(kind.rawValue)).policy(
            id: "dev", issuer: provider.issuer, audiences: ["client"])
        let verified = try IDTokenVerifier().jwsVerifier.verifyNotification(
            UnverifiedToken(sent), with: JWKSet(json.bytes), algorithms: .all, under: policy,
            NotificationRules(kinds: NotificationKind.allCases), now: UnixTime(seconds: Self.now))
        #expect(verified.events.map(\.type) == [expected])
        #expect(verified.events.first?.subject == provider.subject)
    }

    @Test(arguments: ["a=1&a=2", "a=%", "%zz=1"])
    func `a form that can't be read is refused`(text: String) {
        #expect(FormParameters(text.utf8) == nil)
    }
}
