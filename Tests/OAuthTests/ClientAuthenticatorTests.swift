import IDToken
import JOSE
import OAuth
import OpenSSL
import Testing
import TestSupport

@Suite struct ClientAuthenticatorTests {
    private static let now = UnixTime(seconds: 1_700_000_000)

    /// What is sent.
    private struct Sent: Equatable {
        let body: String
        let authorization: String?
    }

    private func sent(
        _ credential: ClientCredential, id: String = "client 1", _ request: GrantRequest? = nil, now: UnixTime = now
    ) throws -> Sent {
        var authenticator = ClientAuthenticator(clientID: id, credential)
        let request = try request ?? .refresh(#require(RefreshToken("r/1")), scopes: [])
        return try authenticator.authenticate(request, now: now).send { Sent(body: text($0), authorization: $1) }
    }

    private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(text.utf8.span) }

    // MARK: Requests

    @Test func `a code, with what belongs to it`() throws {
        let code = try #require(AuthorizationCode("4/0A b+c"))
        let verifier = try #require(CodeVerifier(octets(hex: String(repeating: "00", count: 32))))
        #expect(
            try sent(.none, .code(code, redirectURI: "https://a.example/b?c=d", verifier: verifier)).body
                == "grant_type=authorization_code&code=4%2F0A+b%2Bc&redirect_uri=https%3A%2F%2Fa.example%2Fb%3Fc%3Dd"
                + "&code_verifier=\(String(repeating: "A", count: 43))&client_id=client+1")
        #expect(
            try sent(.none, .code(code, redirectURI: nil, verifier: nil)).body
                == "grant_type=authorization_code&code=4%2F0A+b%2Bc&client_id=client+1")
    }

    @Test func `a refresh token, with scopes`() throws {
        let token = try #require(RefreshToken("r/1"))
        #expect(
            try sent(.none, .refresh(token, scopes: ["openid", "a:b"])).body
                == "grant_type=refresh_token&refresh_token=r%2F1&scope=openid+a%3Ab&client_id=client+1")
    }

    @Test func `a client's own token, and the users who move to another team`() throws {
        #expect(
            try sent(.none, .clientCredentials(scope: "user.migration")).body
                == "grant_type=client_credentials&scope=user.migration&client_id=client+1")
        let token = try #require(AccessToken("t1"))
        var authenticator = ClientAuthenticator(clientID: "c", .secret(try secret("s"), sentIn: .post))
        for (request, body) in [
            (UserMigrationRequest.generate(subject: "1.a", recipientTeamID: "TEAM000001"), "sub=1.a&target=TEAM000001"),
            (.redeem(transferSubject: "2.b"), "transfer_sub=2.b"),
        ] {
            let sent = try authenticator.authenticate(request, with: token, now: Self.now)
                .send { Sent(body: text($0), authorization: $1) }
            #expect(sent == Sent(body: body + "&client_id=c&client_secret=s", authorization: "Bearer t1"))
        }
    }

    @Test func `a token to revoke, with and without a hint`() throws {
        var authenticator = ClientAuthenticator(clientID: "c", .none)
        let requests = [
            (RevocationRequest(try #require(RefreshToken("r"))), "token=r&token_type_hint=refresh_token&client_id=c"),
            (RevocationRequest(try #require(AccessToken("a"))), "token=a&token_type_hint=access_token&client_id=c"),
            (RevocationRequest(try #require(RevocableToken("t")), hint: nil), "token=t&client_id=c"),
        ]
        for (request, body) in requests {
            #expect(try authenticator.authenticate(request, now: Self.now).send { octets, _ in text(octets) } == body)
        }
    }

    @Test func `an authorization request names the client once, however it authenticates`() throws {
        var parameters = AuthorizationParameters()
        parameters.add("scope", .text("openid a"))
        parameters.add("max_age", .number(60))
        parameters.add("a b", .json(Array("{}".utf8)))
        let body = "scope=openid+a&max_age=60&a+b=%7B%7D"
        for (credential, authentication, authorization) in [
            (ClientCredential.none, "client_id=c", nil),
            (.secret(try secret("s"), sentIn: .post), "client_id=c&client_secret=s", nil),
            (.secret(try secret("s"), sentIn: .basic), "client_id=c", "Basic Yzpz"),
        ] {
            var authenticator = ClientAuthenticator(clientID: "c", credential)
            let sent = try authenticator.authenticate(.parameters(parameters), now: Self.now)
                .send { Sent(body: text($0), authorization: $1) }
            #expect(sent == Sent(body: authentication + "&" + body, authorization: authorization))
            let object = try authenticator.authenticate(.object(Array("a.b.c".utf8), of: parameters), now: Self.now)
                .send { octets, _ in text(octets) }
            #expect(object.contains("request=a.b.c") && !object.contains("scope"))
        }
    }

    /// The endpoint's methods, and whether a secret that is configured for the header then goes there.
    @Test(
        arguments: [
            (nil, true), ([], true), (["client_secret_post", "client_secret_basic"], true),
            (["private_key_jwt", "client_secret_post"], false), (["private_key_jwt", "none"], true),
        ] as [([String]?, Bool)])
    func `a token is revoked by the configured method, or the first that the endpoint accepts`(
        methods: [String]?, isInHeader: Bool
    ) throws {
        var authenticator = ClientAuthenticator(clientID: "c", .secret(try secret("s"), sentIn: .basic))
        let request = RevocationRequest(try #require(RevocableToken("t")), hint: nil)
        let sent = try authenticator.authenticate(request, acceptedBy: methods, now: Self.now)
            .send { Sent(body: text($0), authorization: $1) }
        #expect(
            sent
                == (isInHeader
                    ? Sent(body: "token=t", authorization: "Basic Yzpz")
                    : Sent(body: "token=t&client_id=c&client_secret=s", authorization: nil)))
    }

    @Test func `the verifier of RFC 7636, appendix B has its challenge`() throws {
        let verifier = try #require(
            CodeVerifier([
                116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214,
                191,
                240, 91, 88, 5, 88, 83, 132, 141, 121,
            ]))
        #expect(try verifier.challenge(DigestContext()) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(CodeVerifier([0]) == nil)
        #expect(try CodeVerifier.random() != CodeVerifier.random())
    }

    // MARK: Secrets

    @Test func `a secret in the header is form-encoded before base64`() throws {
        let sent = try sent(.secret(secret("p+ss:w ö"), sentIn: .basic), id: "a:b")
        #expect(sent.body == "grant_type=refresh_token&refresh_token=r%2F1")
        // a%3Ab:p%2Bss%3Aw+%C3%B6
        #expect(sent.authorization == "Basic YSUzQWI6cCUyQnNzJTNBdyslQzMlQjY=")
    }

    @Test func `a secret in the body`() throws {
        let sent = try sent(.secret(secret("p+ss"), sentIn: .post))
        #expect(
            sent
                == Sent(
                    body: "grant_type=refresh_token&refresh_token=r%2F1&client_id=client+1&client_secret=p%2Bss",
                    authorization: nil))
    }

    @Test func `a public client sends its ID alone`() throws {
        #expect(
            try sent(.none)
                == Sent(body: "grant_type=refresh_token&refresh_token=r%2F1&client_id=client+1", authorization: nil))
    }

    // MARK: Keys

    /// The header and claims of a JWT that the key has signed.
    private func verified(_ token: String, by key: TestKey) throws -> (header: JSONTree, claims: JSONTree) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let decoded = parts.map { Base64URL.decode(Array($0.utf8).span) ?? [] }
        let algorithm = try JSONTree(readingObject: decoded[0]).object?["alg"]?.string
        let scheme: SignatureScheme =
            switch algorithm {
            case "ES256": .ecdsa(.p256)
            case "PS256": .rsaPSS(.bits256)
            default: .rsaPKCS1(.bits256)
            }
        let input = Array("\(parts[0]).\(parts[1])".utf8)
        let signature = decoded[2]
        let isSigned = try SignatureChecker().isValid(signature.span, of: input.span, by: key.publicKey(), scheme)
        #expect(isSigned)
        return (try JSONTree(readingObject: decoded[0]), try JSONTree(readingObject: decoded[1]))
    }

    /// The value of a form's last member.
    private func last(_ body: String, after prefix: String) throws -> String {
        try #require(body.hasPrefix(prefix))
        return String(body.dropFirst(prefix.count))
    }

    @Test func `a client assertion has the claims of its kind, and its own ID`() throws {
        let credential = ClientCredential.key(
            ClientSigningKey(id: "k", JWSSigner(TestKey.p256.signing)), certificateThumbprint: nil,
            audience: "https://as.example")
        let prefix =
            "grant_type=refresh_token&refresh_token=r%2F1&client_id=client+1"
            + "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion="
        let token = try last(sent(credential).body, after: prefix)
        let (header, claims) = try verified(token, by: .p256)
        #expect(
            header
                == .object([
                    "alg": .string("ES256"), "kid": .string("k"), "typ": .string("client-authentication+jwt"),
                ]))
        let id = try #require(claims.object?["jti"]?.string)
        #expect(id.count == 22)
        #expect(
            claims
                == .object([
                    "iss": .string("client 1"), "sub": .string("client 1"), "aud": .string("https://as.example"),
                    "iat": .integer(1_700_000_000), "exp": .integer(1_700_000_060), "jti": .string(id),
                ]))
        let another = try sent(credential).body
        #expect(!another.hasSuffix(token))
    }

    @Test func `an RSA key signs RS256, and PS256 beside a certificate`() throws {
        for thumbprint in [nil, [UInt8](repeating: 1, count: 32)] {
            let credential = ClientCredential(
                key: TestKey.rsa.signing, keyID: "k", certificateThumbprint: thumbprint, audience: "a")
            let body = try sent(try #require(credential)).body
            let token = try #require(body.split(separator: "=").last)
            let header = try verified(String(token), by: .rsa).header.object
            #expect(header?["alg"]?.string == (thumbprint == nil ? "RS256" : "PS256"))
            #expect(header?["x5t#S256"]?.string == thumbprint.map { base64URL($0) })
        }
    }

    @Test func `with a profile, a key signs only as the profile allows`() {
        func algorithm(_ key: TestKey) -> String? {
            let credential = ClientCredential(
                key: key.signing, keyID: "k", certificateThumbprint: nil, audience: "a", profile: .fapi2)
            guard case .key(let key, _, _)? = credential else { return nil }
            return key.signer.algorithm.rawValue
        }
        #expect(algorithm(.rsa) == "PS256")
        #expect(algorithm(.p256) == "ES256")
        #expect(algorithm(.ed25519) == "EdDSA")
        #expect(algorithm(.p384) == nil)
    }

    @Test func `Apple's secret has the claims that Apple names, and is used while it is fresh`() throws {
        let key = try #require(AppleClientKey(TestKey.p256.signing, teamID: "TEAM000000", keyID: "KEY0000000"))
        var authenticator = ClientAuthenticator(clientID: "com.example.app", .apple(key))
        func secret(at seconds: Int64) throws -> String {
            let request = GrantRequest.refresh(try #require(RefreshToken("r")), scopes: [])
            let body = try authenticator.authenticate(request, now: UnixTime(seconds: seconds)).send { body, _ in
                text(body)
            }
            return try last(
                body,
                after: "grant_type=refresh_token&refresh_token=r&client_id=com.example.app&client_secret=")
        }
        let first = try secret(at: 1_700_000_000)
        let (header, claims) = try verified(first, by: .p256)
        #expect(header == .object(["alg": .string("ES256"), "kid": .string("KEY0000000")]))
        #expect(
            claims
                == .object([
                    "iss": .string("TEAM000000"), "sub": .string("com.example.app"),
                    "aud": .string("https://appleid.apple.com"), "iat": .integer(1_699_999_970),
                    "exp": .integer(1_700_000_900),
                ]))
        #expect(try secret(at: 1_700_000_599) == first)
        let second = try secret(at: 1_700_000_600)
        #expect(second != first)
        // The clock was set back.
        #expect(try secret(at: 1_700_000_599) != second)
    }

    @Test func `only a key on P-256 makes secrets for Apple`() {
        #expect(AppleClientKey(TestKey.rsa.signing, teamID: "", keyID: "") == nil)
        #expect(AppleClientKey(TestKey.p384.signing, teamID: "", keyID: "") == nil)
        for (text, isOne) in [("ABCDE12345", true), ("abcde12345", false), ("ABCDE1234", false), ("", false)] {
            #expect(AppleClientKey.isIdentifier(text) == isOne)
        }
    }

    @Test func `no description shows a secret`() throws {
        let texts = [
            "\(try secret("canary"))", "\(ClientCredential.secret(try secret("canary"), sentIn: .post))",
            "\(try #require(AuthorizationCode("canary")))",
            "\(GrantRequest.refresh(try #require(RefreshToken("canary")), scopes: []))",
            String(reflecting: RevocationRequest(try #require(RevocableToken("canary")), hint: nil)),
        ]
        for text in texts { #expect(!text.contains("canary")) }
    }

    @Test func `codes and tokens have visible characters, and a limit`() {
        #expect(RefreshToken("") == nil)
        #expect(RefreshToken("a\n") == nil)
        #expect(RefreshToken("é") == nil)
        #expect(RefreshToken(String(repeating: "a", count: 16384)) != nil)
        #expect(RefreshToken(String(repeating: "a", count: 16385)) == nil)
        #expect(AccessToken(String(repeating: "a", count: 49152)) != nil)
        #expect(AccessToken(String(repeating: "a", count: 49153)) == nil)
    }
}
