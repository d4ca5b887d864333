@testable import DevProvider
import IDToken
import JOSE
import Testing

/// Client authentication, refresh, revocation and user info.
@Suite struct TokenEndpointTests {
    private func jwt(_ header: String, _ claims: [String: JSONTree]) -> String {
        func part(_ octets: [UInt8]) -> String { String(decoding: Base64URL.encode(octets), as: UTF8.self) }
        return [
            part(Array(header.utf8)), part(JSONTree.object(claims).json), part([UInt8](repeating: 1, count: 64)),
        ].joined(separator: ".")
    }

    private func appleSecret(_ changes: [String: JSONTree?] = [:]) -> String {
        var claims: [String: JSONTree] = [
            "iss": .string("TEAM"), "sub": .string("client"), "aud": .string("https://appleid.apple.com"),
            "iat": .integer(Emulated.now), "exp": .integer(Emulated.now + 300),
        ]
        for (name, value) in changes { claims[name] = value }
        return jwt(#"{"alg":"ES256","kid":"KEY"}"#, claims)
    }

    /// The error of a refresh with an unknown token: `invalid_grant` shows that the client was authenticated.
    private func error(
        _ provider: EmulatedProvider, _ members: KeyValuePairs<String, String>, _ authorization: String? = nil
    ) throws -> DevOAuthError? {
        var provider = provider
        let text = "grant_type=refresh_token&refresh_token=r&" + members.map { "\($0)=\($1)" }.joined(separator: "&")
        let form = try #require(FormParameters(text.utf8))
        do {
            _ = try provider.grant(form, authorization: authorization, now: Emulated.now)
            return nil
        } catch let error as DevOAuthError {
            return error
        }
    }

    // "client:any secret" and "other:secret".
    private static let basic = "Basic Y2xpZW50OmFueSBzZWNyZXQ="
    private static let other = "Basic b3RoZXI6c2VjcmV0"

    @Test func `any secret is right, in the way that the client is registered for`() throws {
        let (post, basic) = (try Emulated.provider(.oidc, .post), try Emulated.provider(.oidc, .basic))
        #expect(try error(post, ["client_id": "client", "client_secret": "whatever"]) == .invalidGrant)
        #expect(try error(post, ["client_id": "client"]) == .invalidClient)
        #expect(try error(post, ["client_id": "client", "client_secret": ""]) == .invalidClient)
        #expect(try error(post, [:], Self.basic) == .invalidClient)
        #expect(try error(basic, [:], Self.basic) == .invalidGrant)
        #expect(try error(basic, [:], Self.other) == .invalidClient)
        #expect(try error(basic, ["client_secret": "x"], Self.basic) == .invalidRequest)
        #expect(try error(basic, ["client_id": "client", "client_secret": "x"]) == .invalidClient)
    }

    @Test func `an audience without a client authenticates in any way`() throws {
        let provider = try Emulated.provider(.oidc, .any)
        #expect(try error(provider, [:], Self.basic) == .invalidGrant)
        #expect(try error(provider, ["client_id": "client", "client_secret": "x"]) == .invalidGrant)
        #expect(try error(provider, ["client_id": "client"]) == .invalidGrant)
        #expect(try error(provider, ["client_id": "other"]) == .invalidClient)
    }

    @Test(
        arguments: [
            ("iss", nil), ("sub", .string("other")), ("aud", .string("https://apple.com")),
            ("iat", .integer(Emulated.now + 1)), ("exp", .integer(Emulated.now)),
            ("exp", .integer(Emulated.now + 15_777_001)),
        ] as [(String, JSONTree?)])
    func `Apple's client secret is a token with the right claims`(claim: String, value: JSONTree?) throws {
        let provider = try Emulated.provider(.apple, .appleSecret)
        func error(_ secret: String) throws -> DevOAuthError? {
            try self.error(provider, ["client_id": "client", "client_secret": secret])
        }
        #expect(try error(appleSecret()) == .invalidGrant)
        #expect(try error(appleSecret([claim: value])) == .invalidClient)
        #expect(try error("secret") == .invalidClient)
    }

    @Test(
        arguments: [
            ("iss", .string("other")), ("sub", .string("other")), ("aud", .string("https://elsewhere.example")),
            ("exp", .integer(Emulated.now)), ("jti", nil),
        ] as [(String, JSONTree?)])
    func `an assertion has the right claims`(claim: String, value: JSONTree?) throws {
        let provider = try Emulated.provider(.oidc, .assertion)
        func error(_ changes: [String: JSONTree?]) throws -> DevOAuthError? {
            var claims: [String: JSONTree] = [
                "iss": .string("client"), "sub": .string("client"), "aud": .string(provider.base + "/token"),
                "exp": .integer(Emulated.now + 60), "jti": .string("1"),
            ]
            for (name, value) in changes { claims[name] = value }
            return try self.error(
                provider,
                [
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                    "client_assertion": jwt(#"{"alg":"RS256","kid":"k"}"#, claims),
                ])
        }
        #expect(try error([:]) == .invalidGrant)
        #expect(try error(["aud": .array([.string(provider.policy.issuer)])]) == .invalidGrant)
        #expect(try error([claim: value]) == .invalidClient)
    }

    private func tokens(_ provider: inout EmulatedProvider, _ secret: String) throws -> [String: JSONTree] {
        let code = try provider.nativeCode(Emulated.kim, clientID: "client", nonce: "hash", now: Emulated.now)
        let form = try Emulated.form([
            "grant_type": "authorization_code", "code": code, "client_id": "client", "client_secret": secret,
        ])
        return try #require(provider.grant(form, authorization: nil, now: Emulated.now).object)
    }

    @Test(arguments: [(ProviderPreset.apple.name, DevOAuthError.invalidRequest), ("google", .invalidGrant)])
    func `a refresh token stays until it is revoked`(name: String, error: DevOAuthError) throws {
        let preset = try #require(ProviderPreset.named(name))
        var provider = try Emulated.provider(preset, name == "apple" ? .appleSecret : .post)
        let secret = name == "apple" ? appleSecret() : "secret"
        let first = try tokens(&provider, secret)
        let token = try #require(first["refresh_token"]?.string)
        let refresh = try Emulated.form([
            "grant_type": "refresh_token", "refresh_token": token, "client_id": "client", "client_secret": secret,
        ])
        let second = try #require(provider.grant(refresh, authorization: nil, now: Emulated.now).object)
        #expect(second["refresh_token"] == nil)
        #expect(second["access_token"] != first["access_token"])
        let revocation = try Emulated.form(["token": token, "client_id": "client", "client_secret": secret])
        try provider.revoke(revocation, authorization: nil, now: Emulated.now)
        try provider.revoke(revocation, authorization: nil, now: Emulated.now)
        #expect(throws: error) { try provider.grant(refresh, authorization: nil, now: Emulated.now) }
    }

    @Test func `elsewhere a refresh uses the token up`() throws {
        var provider = try Emulated.provider(.oidc, .post)
        let first = try #require(try tokens(&provider, "s")["refresh_token"]?.string)
        func refresh(_ token: String) throws -> [String: JSONTree]? {
            let form = try Emulated.form([
                "grant_type": "refresh_token", "refresh_token": token, "client_id": "client", "client_secret": "s",
            ])
            return try provider.grant(form, authorization: nil, now: Emulated.now).object
        }
        let second = try #require(try refresh(first)?["refresh_token"]?.string)
        #expect(throws: DevOAuthError.invalidGrant) { try refresh(first) }
        #expect(try refresh(second) != nil)
    }

    @Test func `user info is for an access token, until the person removes the app`() throws {
        var provider = try Emulated.provider(.google, .post)
        let token = try #require(try tokens(&provider, "s")["access_token"]?.string)
        let claims = try #require(
            try provider.userInfo(.init(authorization: "Bearer \(token)"), now: Emulated.now)?.object)
        #expect(claims["sub"] == .string(try provider.subject(of: Emulated.kim)))
        #expect(claims["name"] == .string("Kim Example"))
        #expect(try provider.userInfo(.init(authorization: "Bearer x"), now: Emulated.now) == nil)
        #expect(try provider.userInfo(.init(authorization: nil), now: Emulated.now) == nil)
        provider.grants.withdraw("kim")
        #expect(try provider.userInfo(.init(authorization: "Bearer \(token)"), now: Emulated.now) == nil)
    }

    @Test func `codes can be spent and clients refused at will`() throws {
        var provider = try Emulated.provider(.google, .post)
        provider.faults.set(.spentCodes, on: true, seconds: nil)
        #expect(throws: DevOAuthError.invalidGrant) { try tokens(&provider, "s") }
        provider.faults.reset()
        provider.faults.set(.refusedClients, on: true, seconds: nil)
        #expect(throws: DevOAuthError.invalidClient) { try tokens(&provider, "s") }
        provider.faults.set(.refusedClients, on: false, seconds: nil)
        #expect(try tokens(&provider, "s")["id_token"] != nil)
    }

    @Test(arguments: ["a=1&a=2", "a=%", "%zz=1"])
    func `a form that can't be read is refused`(text: String) {
        #expect(FormParameters(text.utf8) == nil)
    }
}
