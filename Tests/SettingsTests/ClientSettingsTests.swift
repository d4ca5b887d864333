import IDToken
import OAuth
@testable import Settings
import Testing

@Suite struct ClientSettingsTests {
    private static func yaml(_ client: String, _ more: String = "") -> String {
        """
        issuer: https://op.example
        audiences: [a, b]
        \(more)
        clients:
          - { id: a, \(client) }
        """
    }

    private static func document(_ client: String, _ more: String = "") -> String {
        "providers:\n  - id: p\n" + indented(yaml(client, more))
    }

    @Test func `each way to authenticate`() throws {
        func authentication(_ client: String, _ more: String = "") throws -> ClientSettings.Authentication {
            try #require(read(provider: Self.yaml(client, more)).clients.first).authentication
        }
        #expect(try authentication("auth: none") == .none)
        #expect(try authentication("auth: client_secret_basic, secret_file: s") == .secret(file: "s", sentIn: .basic))
        #expect(try authentication("auth: client_secret_post, secret_file: s") == .secret(file: "s", sentIn: .post))
        #expect(
            try authentication("auth: apple, team_id: ABCDE12345, key_id: XYZ123ABCD, key_file: k")
                == .apple(teamID: "ABCDE12345", keyID: "XYZ123ABCD", keyFile: "k"))
        #expect(
            try authentication("auth: private_key_jwt, key_id: k1, key_file: k, certificate_file: c")
                == .privateKeyJWT(
                    keyID: "k1", keyFile: "k", certificateFile: "c", audience: "https://op.example"))
        #expect(
            try authentication(
                "auth: private_key_jwt, key_id: k1, key_file: k, assertion_audience: token_endpoint",
                "endpoints: { token: \"https://op.example/token\" }")
                == .privateKeyJWT(
                    keyID: "k1", keyFile: "k", certificateFile: nil, audience: "https://op.example/token"))
    }

    @Test func `how requests reach the provider`() throws {
        func client(_ members: String) throws -> OAuthClient {
            try #require(
                read(provider: Self.yaml("auth: private_key_jwt, key_id: k, key_file: f" + members)).clients.first
            ).client
        }
        #expect(try client("").requestForm == nil)
        for form in AuthorizationRequestForm.allCases {
            #expect(try client(", request: \(form.rawValue)").requestForm == form)
        }
    }

    @Test(arguments: [
        ("auth: client_secret_post", "auth: client_secret_post needs secret_file"),
        ("auth: none, key_id: k", "key_id only has an effect with auth: apple and private_key_jwt; remove it"),
        (
            "auth: none, secret_file: s",
            "secret_file only has an effect with auth: client_secret_basic and client_secret_post; remove it"
        ),
        (
            "auth: client_secret_post, secret_file: s, team_id: ABCDE12345",
            "team_id only has an effect with auth: apple; remove it"
        ),
        (
            "auth: apple, team_id: abc, key_id: XYZ123ABCD, key_file: k",
            "team_id must be ten capital letters and digits, as Apple shows it; found \"abc\""
        ),
        (
            "auth: apple, team_id: ABCDE12345.com.example.app, key_id: AuthKey_XYZ123ABCD.p8, key_file: k",
            "team_id must be ten capital letters and digits, as Apple shows it; found \"ABCDE12345.com.example.app\"; did you mean ABCDE12345?"
        ),
        (
            "auth: apple, team_id: ABCDE12345, key_id: AuthKey_XYZ123ABCD.p8, key_file: k",
            "key_id must be ten capital letters and digits, as Apple shows it; found \"AuthKey_XYZ123ABCD.p8\"; did you mean XYZ123ABCD?"
        ),
        (
            "auth: private_key_jwt, key_id: k, key_file: k, assertion_audience: token_endpoint",
            "assertion_audience: token_endpoint needs endpoints.token; set it"
        ),
        ("key_id: k", "a client needs id and auth"),
        (
            "auth: none, signing_key: k",
            "signing_key only has an effect with auth: private_key_jwt, or with signed requests; remove it"
        ),
        ("auth: none, response_type: token", "response_type must be one of code, code id_token; found \"token\""),
        ("auth: none, request: jar", "request must be one of plain, pushed, signed, signed_pushed; found \"jar\""),
        (
            "auth: none, request: signed",
            "provider p: the client a needs key_id and key_file with auth: private_key_jwt, or a key with use: signature in client_keys; add one of them"
        ),
    ])
    func `what does not fit`(client: String, message: String) throws {
        #expect(try faults(Self.document(client)).map(\.message).contains(message))
    }

    @Test(arguments: [
        "/callback", "https://a.example/#f", "https://a.example/ä", "https://" + String(repeating: "a", count: 2048),
    ])
    func `a redirect URI is absolute and has no fragment`(uri: String) throws {
        let fault = try fault(Self.document("auth: none, redirect_uris: [\"\(uri)\"]"))
        #expect(fault.message.contains("an absolute URI without a fragment"))
    }

    @Test(arguments: ["auth: client_secret", "auth: [none]", "auth: apple_key, certificate_file: c"])
    func `a wrong auth is the only fault of its client`(auth: String) throws {
        let members = "secret_file: s, team_id: ABCDE12345, key_id: XYZ123ABCD, key_file: k"
        #expect(
            try fault(Self.document("\(auth), \(members), assertion_audience: issuer")).message
                .hasPrefix("auth must be one of apple, client_secret_basic,"))
    }

    @Test func `an id is an audience, and there once`() throws {
        #expect(
            try fault(
                "providers:\n  - id: p\n"
                    + indented("issuer: https://op.example\naudiences: [a]\nclients: [{ id: c, auth: none }]")
            )
            .message == "c is not one of the provider's audiences; add it to them, or correct it")
        #expect(
            try fault(
                "providers:\n  - id: p\n"
                    + indented(
                        "issuer: https://op.example\naudiences: [a]\nclients: [{ id: a, auth: none }, { id: a, auth: none }]"
                    )
            )
            .message == "the client a is listed twice; list it once")
        #expect(
            try fault("providers:\n  - id: p\n" + indented("issuer: https://op.example\naudiences: [a]\nclients: [a]"))
                .message.contains("each of clients must be a mapping with id and auth"))
    }

    @Test func `clients need a token endpoint`() throws {
        let more = "jwks_uri: \"https://op.example/jwks\""
        #expect(try fault(Self.document("auth: none", more)).message.hasPrefix("clients need endpoints.token,"))
        let endpoints = more + "\nendpoints: { token: \"https://op.example/token\" }"
        #expect(try read(provider: Self.yaml("auth: none", endpoints)).endpoints.token == "https://op.example/token")
    }

    @Test func `max_calls does nothing without clients`() throws {
        #expect(
            try fault("providers:\n  - id: p\n" + indented("issuer: https://op.example\naudiences: [a]\nmax_calls: 5"))
                .message
                == "max_calls has no effect without clients; remove it, or add clients")
        #expect(try read(provider: Self.yaml("auth: none", "max_calls: 5")).maximumCalls == 5)
        #expect(try read(provider: Self.yaml("auth: none")).maximumCalls == 64)
    }

    @Test func `endpoints need TLS, and Apple's are known`() throws {
        let plain = "issuer: https://op.example\naudiences: [a]\nendpoints: { revocation: \"http://op.example/r\" }"
        #expect(try fault("providers:\n  - id: p\n" + indented(plain)).message.contains("https://"))
        let apple = try read(provider: "preset: apple\naudiences: [a]")
        #expect(apple.endpoints.revocation == "https://appleid.apple.com/auth/revoke")
        #expect(apple.quirks == Set(ProviderQuirk.allCases).subtracting([.scopeIsList, .noTokenType]))
        #expect(try read(provider: "preset: twitch\naudiences: [a]").quirks == [.scopeIsList])
        #expect(try read(provider: "preset: linkedin\naudiences: [a]").quirks == [.noTokenType])
        let other = try read(
            provider: "preset: apple\naudiences: [a]\nquirks: []\nendpoints: { token: \"https://b.example/t\" }")
        #expect(other.quirks.isEmpty && other.endpoints.token == "https://b.example/t")
        #expect(other.endpoints.revocation == "https://appleid.apple.com/auth/revoke")
    }

    /// Their endpoints are in no discovery document that is read.
    @Test(arguments: ["apple", "yahoo-japan"])
    func `clients of a preset without discovery need no endpoints`(preset: String) throws {
        let client = "clients: [{ id: a, auth: none, redirect_uris: [\"https://e.example/c\"] }]"
        let userInfo = preset == "apple" ? "" : "\nuser_info: true"
        let provider = try read(provider: "preset: \(preset)\naudiences: [a]\n\(client)\(userInfo)")
        #expect(provider.endpoints.authorization?.hasPrefix("https://") == true)
    }

    @Test(arguments: [
        ("true", UserInfoUse.accepted), ("false", nil), ("{ signed: required }", .signed),
        ("{ signed: accepted }", .accepted), ("{}", .accepted),
    ])
    func `how user info is read`(value: String, expected: UserInfoUse?) throws {
        #expect(try read(provider: Self.yaml("auth: none", "user_info: \(value)")).userInfo == expected)
    }

    @Test func `user info that is no setting`() throws {
        #expect(throws: SettingsError.self) {
            try read(provider: Self.yaml("auth: none", "user_info: { signed: always }"))
        }
        #expect(throws: SettingsError.self) { try read(provider: Self.yaml("auth: none", "user_info: { sign: x }")) }
    }

    @Test func `settings of sign-ins in the browser`() throws {
        let client = """
            auth: client_secret_post, secret_file: s, scopes: [email, "a:b/c"], redirect_uris: ["https://app.example/cb", "com.example.app:/cb"], post_logout_redirect_uris: ["https://app.example/bye"], authorization_parameters: { access_type: offline, hd: "*" }
            """
        let provider = try read(provider: Self.yaml(client, "pkce: off\nallow_unbound_codes: true\nuser_info: true"))
        let found = try #require(provider.clients.first).client
        #expect(found.scopes == ["email", "a:b/c"] && found.redirectURIs.count == 2)
        #expect(found.postLogoutRedirectURIs == ["https://app.example/bye"])
        #expect(
            found.authorizationParameters == [
                AuthorizationParameter(name: "access_type", value: "offline"),
                AuthorizationParameter(name: "hd", value: "*"),
            ])
        #expect(!provider.usesPKCE && provider.allowsUnboundCodes && provider.userInfo == .accepted)
        let usual = try read(provider: Self.yaml("auth: none"))
        #expect(usual.usesPKCE && !usual.allowsUnboundCodes && usual.userInfo == nil)
        let linkedIn = try read(
            provider: "preset: linkedin\naudiences: [a]\nclients: [{ id: a, auth: client_secret_post, secret_file: s }]"
        )
        #expect(!linkedIn.usesPKCE)
    }

    @Test(arguments: [
        ("auth: none", "pkce: off", "the client a has auth: none, which needs PKCE"),
        ("auth: none, scopes: [\"a b\"]", "", "each of scopes must be a scope"),
        ("auth: none, authorization_parameters: { state: x }", "", "state is set by Assay or by the request"),
        ("auth: none, authorization_parameters: { request_uri: x }", "", "request_uri is set by Assay"),
        ("auth: none, authorization_parameters: { client_assertion: x }", "", "client_assertion is set by Assay"),
        (
            "auth: none, authorization_parameters: { claims: '[]' }", "",
            "claims must be a JSON object (OpenID Connect Core 1.0, section 5.5) in quotes; found \"[]\""
        ),
        (
            "auth: none, authorization_parameters: { authorization_details: '{}' }", "",
            "authorization_details must be a JSON array (RFC 9396, section 2) in quotes; found \"{}\""
        ),
        (
            "auth: none, authorization_parameters: { authorization_details: '[],\"a\":[]' }", "",
            "authorization_details must be a JSON array"
        ),
        ("auth: none, authorization_parameters: { a: [x, y] }", "", "a must be a parameter's name, with one value"),
        ("auth: none, redirect_uris: [\"javascript:alert(1)\"]", "", "each of redirect_uris must be an absolute URI"),
        (
            "auth: none, redirect_uris: [\"https://app.example/cb\"]",
            "jwks_uri: \"https://op.example/jwks\"\nendpoints: { token: \"https://op.example/token\" }",
            "redirect_uris need endpoints.authorization,"
        ),
        (
            "auth: none",
            "user_info: true\njwks_uri: \"https://op.example/jwks\"\nendpoints: { token: \"https://op.example/token\" }",
            "user_info needs endpoints.user_info,"
        ),
    ])
    func `what no sign-in in the browser can be made with`(client: String, more: String, message: String) throws {
        #expect(try fault(Self.document(client, more)).message.hasPrefix(message))
    }

    @Test func `risks of sign-ins in the browser are warned about`() throws {
        func warnings(_ client: String, _ more: String = "") throws -> [String] {
            try settings(Self.document(client, more)).warnings
        }
        let secret = "auth: client_secret_post, secret_file: s"
        let unbound = "pkce: off\nallow_unbound_codes: true\nnonce: { check: off }"
        #expect(try warnings(secret, unbound).contains { $0.contains("allow_unbound_codes") })
        #expect(try !warnings(secret, "allow_unbound_codes: true").contains { $0.contains("allow_unbound_codes") })
        for (uri, isRisk) in [
            ("http://app.example/cb", true), ("http://localhost.evil.example/cb", true),
            ("http://localhost:80/cb", false),
            ("http://127.0.0.1/cb", false), ("https://app.example/cb", false),
        ] {
            let found = try warnings(secret + ", redirect_uris: [\"\(uri)\"]").contains {
                $0.contains("is not https: codes")
            }
            #expect(found == isRisk, "\(uri)")
        }
    }

    @Test func `a redirect URI at two providers is warned about`() throws {
        func provider(_ id: String) -> String {
            "  - { id: \(id), issuer: \"https://\(id).example\", audiences: [a], clients: [{ id: a, auth: none, redirect_uris: [\"https://app.example/cb\"] }] }\n"
        }
        let warnings = try settings("providers:\n" + provider("p") + provider("q")).warnings
        #expect(warnings.contains { $0.hasPrefix("the redirect URI https://app.example/cb is listed for p and for q") })
    }
}
