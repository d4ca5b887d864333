import Grants
import IDToken
import Testing

@testable import Settings

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

    @Test(arguments: [
        ("auth: client_secret_post", "auth: client_secret_post needs secret_file"),
        ("auth: none, key_id: k", "key_id is for auth: apple and private_key_jwt; leave it out"),
        (
            "auth: none, secret_file: s",
            "secret_file is for auth: client_secret_basic and client_secret_post; leave it out"
        ),
        (
            "auth: client_secret_post, secret_file: s, team_id: ABCDE12345", "team_id is for auth: apple; leave it out"
        ),
        (
            "auth: apple, team_id: abc, key_id: XYZ123ABCD, key_file: k",
            "team_id must be ten capital letters and digits, as Apple shows it"
        ),
        (
            "auth: private_key_jwt, key_id: k, key_file: k, assertion_audience: token_endpoint",
            "assertion_audience: token_endpoint needs endpoints.token; set it"
        ),
        ("key_id: k", "a client needs id and auth"),
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

    @Test func `an id is an audience, and there once`() throws {
        #expect(
            try fault(
                "providers:\n  - id: p\n"
                    + indented("issuer: https://op.example\naudiences: [a]\nclients: [{ id: c, auth: none }]")
            )
            .message == "c is not one of the provider's audiences; add it there, or correct it")
        #expect(
            try fault(
                "providers:\n  - id: p\n"
                    + indented(
                        "issuer: https://op.example\naudiences: [a]\nclients: [{ id: a, auth: none }, { id: a, auth: none }]"
                    )
            )
            .message == "the client a is there twice; list it once")
        #expect(
            try fault("providers:\n  - id: p\n" + indented("issuer: https://op.example\naudiences: [a]\nclients: [a]"))
                .message.contains("each of clients must be a mapping with id and auth"))
    }

    @Test func `clients need a token endpoint`() throws {
        let more = "jwks_uri: \"https://op.example/jwks\""
        #expect(try fault(Self.document("auth: none", more)).message.hasPrefix("clients need endpoints.token here"))
        let endpoints = more + "\nendpoints: { token: \"https://op.example/token\" }"
        #expect(try read(provider: Self.yaml("auth: none", endpoints)).endpoints.token == "https://op.example/token")
    }

    @Test func `max_calls does nothing without clients`() throws {
        #expect(
            try fault("providers:\n  - id: p\n" + indented("issuer: https://op.example\naudiences: [a]\nmax_calls: 5"))
                .message
                == "max_calls does nothing without clients; leave it out, or add clients")
        #expect(try read(provider: Self.yaml("auth: none", "max_calls: 5")).maximumCalls == 5)
        #expect(try read(provider: Self.yaml("auth: none")).maximumCalls == 64)
    }

    @Test func `endpoints need TLS, and Apple's are known`() throws {
        let plain = "issuer: https://op.example\naudiences: [a]\nendpoints: { revocation: \"http://op.example/r\" }"
        #expect(try fault("providers:\n  - id: p\n" + indented(plain)).message.contains("https://"))
        let apple = try read(provider: "preset: apple\naudiences: [a]")
        #expect(apple.endpoints.revocation == "https://appleid.apple.com/auth/revoke")
        #expect(apple.quirks == Set(ProviderQuirk.allCases))
        let other = try read(
            provider: "preset: apple\naudiences: [a]\nquirks: []\nendpoints: { token: \"https://b.example/t\" }")
        #expect(other.quirks.isEmpty && other.endpoints.token == "https://b.example/t")
        #expect(other.endpoints.revocation == "https://appleid.apple.com/auth/revoke")
    }

    @Test func `a redirect URI at two providers is warned about`() throws {
        func provider(_ id: String) -> String {
            "  - { id: \(id), issuer: \"https://\(id).example\", audiences: [a], clients: [{ id: a, auth: none, redirect_uris: [\"https://app.example/cb\"] }] }\n"
        }
        let warnings = try settings("providers:\n" + provider("p") + provider("q")).warnings
        #expect(warnings.contains { $0.hasPrefix("the redirect URI https://app.example/cb is listed at p and at q") })
    }
}
