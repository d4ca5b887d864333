import IDToken
import JOSE
import OAuth
@testable import Settings
import Testing

@Suite struct ProfileSettingsTests {
    private static let key = "auth: private_key_jwt, key_id: k, key_file: f"
    private static let bound = key + ", sender_constraint: dpop"

    private static func entry(_ client: String, _ more: String = "") -> String {
        """
        issuer: https://op.example
        audiences: [a]
        profile: fapi2
        \(more)
        clients:
          - { id: a, \(client) }
        """
    }

    private static func document(_ entry: String) -> String {
        "sign_ins: { key_files: [h] }\nproviders:\n  - id: p\n" + indented(entry)
    }

    private static func read(_ client: String, _ more: String = "") throws -> ProviderSettings {
        try #require(settings(document(entry(client, more))).providers.first)
    }

    @Test func `requests are pushed, and signatures are of the profile`() throws {
        let provider = try Self.read(Self.bound)
        let client = try #require(provider.clients.first).client
        #expect(client.requestForm == .pushed)
        #expect(client.profile == .fapi2)
        #expect(provider.policy.algorithms?.names == ["PS256", "ES256", "EdDSA", "Ed25519"])
    }

    @Test(arguments: [
        "request: signed_pushed", "request: pushed", "response_type: code", "assertion_audience: issuer",
        "redirect_uris: [\"http://127.0.0.1:3000/cb\", \"https://app.example/cb\"]",
    ])
    func `what the profile allows`(_ member: String) throws {
        _ = try Self.read(Self.bound + ", " + member)
    }

    @Test func `certificates authenticate and bind`() throws {
        let certificate = "auth: tls_client_auth, certificate_file: c, key_file: k"
        for constraint in ["certificate", "dpop"] {
            _ = try Self.read(certificate + ", sender_constraint: " + constraint)
        }
    }

    @Test func `some of the algorithms can be chosen`() throws {
        let provider = try Self.read(Self.bound, "algorithms: [ES256]")
        #expect(provider.policy.algorithms?.names == ["ES256"])
        let preset = try #require(
            settings(
                Self.document(
                    "preset: singpass\naudiences: [a]\nprofile: fapi2\nclients:\n  - { id: a, \(Self.bound) }"
                )
            ).providers.first)
        #expect(preset.policy.algorithms?.names == ["ES256"])
    }

    @Test(arguments: [
        (
            "auth: client_secret_post, secret_file: s, sender_constraint: dpop",
            "the client a has auth: client_secret_post, but profile: fapi2 demands private_key_jwt or tls_client_auth; set one of them, or remove profile"
        ),
        (
            "auth: none, sender_constraint: dpop",
            "the client a has auth: none, but profile: fapi2 demands private_key_jwt or tls_client_auth; set one of them, or remove profile"
        ),
        (
            key,
            "the client a has no sender_constraint, but profile: fapi2 demands grants that are bound to the client; set sender_constraint: dpop, or remove profile"
        ),
        (
            "auth: tls_client_auth, certificate_file: c, key_file: k",
            "the client a has no sender_constraint, but profile: fapi2 demands grants that are bound to the client; set sender_constraint: certificate or dpop, or remove profile"
        ),
        (
            bound + ", request: plain",
            "the client a has request: plain, but profile: fapi2 demands requests that are pushed; set pushed or signed_pushed, or remove profile"
        ),
        (
            bound + ", request: signed",
            "the client a has request: signed, but profile: fapi2 demands requests that are pushed; set pushed or signed_pushed, or remove profile"
        ),
        (
            bound + ", response_type: code id_token",
            "the client a has response_type: code id_token, but profile: fapi2 demands code; remove response_type, or remove profile"
        ),
        (
            bound + ", redirect_uris: [\"http://app.example/cb\"]",
            "the client a has the redirect URI http://app.example/cb, but profile: fapi2 demands responses that nobody on the network can read; use https, or remove profile"
        ),
    ])
    func `a client that contradicts the profile`(_ client: String, _ message: String) throws {
        let found = try fault(Self.document(Self.entry(client)))
        #expect(found.message.hasSuffix(message), "\(found.message)")
        #expect(found.line != nil)
    }

    @Test func `the token endpoint is no audience`() throws {
        let found = try faults(
            Self.document(
                Self.entry(
                    Self.bound + ", assertion_audience: token_endpoint",
                    "endpoints: { token: \"https://op.example/token\" }")))
        #expect(
            found.contains {
                $0.message.hasSuffix(
                    "the client a has assertion_audience: token_endpoint, but profile: fapi2 demands the issuer as the audience of assertions; remove assertion_audience, or remove profile"
                )
            }, "\(found)")
    }

    @Test(arguments: [
        (
            "algorithms: [RS256, ES256, PS512]",
            "algorithms has RS256, PS512, but profile: fapi2 allows only PS256, ES256 and EdDSA; remove RS256, PS512"
        ),
        (
            "jwks_uri: https://op.example/keys",
            "jwks_uri says where the keys are, but profile: fapi2 takes endpoints and keys from the discovery document alone; remove it, or remove profile"
        ),
        (
            "jwks_file: keys.json",
            "jwks_file says where the keys are, but profile: fapi2 takes endpoints and keys from the discovery document alone; remove it, or remove profile"
        ),
        (
            "endpoints: { authorization: \"https://op.example/authorize\" }",
            "authorization names an endpoint, but profile: fapi2 takes endpoints and keys from the discovery document alone; remove it, or remove profile"
        ),
        (
            "network: { allow_http: true }",
            "allow_http is on, but profile: fapi2 demands TLS; remove it (for tests, it is allowed with an issuer on localhost, 127.0.0.1 or [::1])"
        ),
        ("pkce: off", "pkce is off, but profile: fapi2 demands PKCE; set pkce: on, or remove profile"),
    ])
    func `an entry that contradicts the profile`(_ member: String, _ message: String) throws {
        let found = try fault(Self.document(Self.entry(Self.bound, member)))
        #expect(found.message.hasSuffix(message), "\(found.message)")
    }

    @Test(arguments: [
        (
            "preset: google\naudiences: [a]\nprofile: fapi2\nclients:\n  - { id: a, \(bound) }",
            "profile: fapi2 allows only the algorithms PS256, ES256 and EdDSA, but the preset has RS256; set algorithms to what the provider signs with, or remove profile"
        ),
        (
            "preset: microsoft\ntenant: common\naudiences: [a]\nalgorithms: [PS256]\nprofile: fapi2\nendpoints: { token: \"https://a.example/token\" }\nclients:\n  - { id: a, \(bound) }",
            "profile: fapi2 needs one issuer, the audience of what clients sign, but this entry's differs by tenant; use preset: oidc with the issuer of one tenant, or remove profile"
        ),
        (
            "issuers: any\nnonce: { required: true }\nprofile: fapi2",
            "profile: fapi2 needs clients with a sender_constraint, which an entry with many issuers can't have; remove profile, or give the issuer an entry of its own"
        ),
        (
            "issuer: https://op.example\naudiences: [a]\ntokens: access\nprofile: fapi2",
            "profile: fapi2 is about sign-ins, but this entry verifies access tokens (tokens); remove profile"
        ),
        (
            "issuer: https://op.example\naudiences: [a]\nprofile: fapi2",
            "profile: fapi2 says what clients do, but there are none; add clients, or remove profile"
        ),
        (
            "issuer: https://op.example\naudiences: [a]\nprofile: fapi\nclients:\n  - { id: a, auth: none }",
            "profile must be one of fapi2; found \"fapi\"; did you mean fapi2?"
        ),
    ])
    func `an entry that can't have the profile`(_ entry: String, _ message: String) throws {
        let found = try fault(Self.document(entry))
        #expect(found.message.hasSuffix(message), "\(found.message)")
    }

    @Test func `an issuer on this machine needs no TLS`() throws {
        let entry = Self.entry(Self.bound, "network: { allow_http: true }")
        for issuer in ["http://127.0.0.1:9400/p", "http://localhost", "http://[::1]:1"] {
            _ = try settings(Self.document(entry.replacing("https://op.example", with: issuer)))
        }
        let found = try fault(Self.document(entry.replacing("https://op.example", with: "http://op.example")))
        #expect(found.message.contains("allow_http is on"), "\(found.message)")
    }

    @Test func `EdDSA is Ed25519 alone`() throws {
        for member in ["", "algorithms: [EdDSA]"] {
            let algorithms = try #require(try Self.read(Self.bound, member).policy.algorithms)
            #expect(algorithms == algorithms.withoutEd448)
        }
    }

    @Test func `our own key has an algorithm of the profile`() throws {
        func document(_ algorithm: String, _ member: String = "") -> String {
            """
            client_keys:
              - { id: one, use: signature, key_file: f, algorithm: \(algorithm) }
              - { id: two, use: signature, key_file: g, algorithm: ES256 }

            """ + Self.document(Self.entry("auth: private_key_jwt, sender_constraint: dpop" + member))
        }
        let found = try fault(document("RS256"))
        #expect(
            found.message.hasSuffix(
                "the key one, which signs for the client a of provider p, has algorithm: RS256, but profile: fapi2 allows only PS256, ES256 and EdDSA; name another with signing_key"
            ), "\(found.message)")
        let read = try settings(document("PS256"))
        #expect(read.clientKeys.map(\.profile) == [.fapi2, nil])
        _ = try settings(document("RS256", ", signing_key: two"))
    }

    @Test func `the algorithms that apply are shown`() throws {
        let shown = try Settings.read(yaml: Self.document(Self.entry(Self.bound))).effective.yaml()
        #expect(shown.contains("algorithms: [PS256, ES256, EdDSA, Ed25519]"), "\(shown)")
    }
}
