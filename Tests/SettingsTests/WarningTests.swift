import Settings
import Testing

@Suite struct WarningTests {
    private static let digest = String(repeating: "0f", count: 32)

    @Test(arguments: [
        (
            "service: { listen: '0.0.0.0:8080' }\nallow_insecure_listen: true\n",
            ["the service is reachable from other machines without API key or client certificate"]
        ),
        (
            "admin: { listen: '[::]:9090' }\nallow_insecure_listen: true\n",
            ["the admin listener is reachable from other machines without API key or client certificate"]
        ),
        (
            "service: { listen: '0.0.0.0:8080' }\napi_keys: [\(digest)]\n",
            ["the service is reachable from other machines without TLS: API keys can be read on the network"]
        ),
        (
            "admin: { listen: '0.0.0.0:9090', api_keys: [\(digest)] }\n",
            ["the admin listener is reachable from other machines without TLS: API keys can be read on the network"]
        ),
        (
            "service: { listen: '0.0.0.0:8080' }\napi_keys: [\(digest)]\n"
                + "admin: { listen: '0.0.0.0:9090', api_keys: [] }\nallow_insecure_listen: true\n",
            [
                "the service is reachable from other machines without TLS: API keys can be read on the network",
                "the admin listener is reachable from other machines without API key or client certificate",
            ]
        ),
    ])
    func `a listener reachable from other machines without access control gets a warning`(
        yaml: String, warnings: [String]
    ) throws {
        #expect(try settings(yaml + provider).warnings == warnings)
    }

    @Test(arguments: [
        "service: { listen: '0.0.0.0:8080', tls: { certificate_file: c, key_file: k, client_ca_file: a } }\n",
        "admin: { listen: '0.0.0.0:9090', tls: { certificate_file: c, key_file: k, client_ca_file: a } }\n",
        "service: { listen: '0.0.0.0:8080', tls: { certificate_file: c, key_file: k } }\napi_keys: [\(digest)]\n",
        "allow_insecure_listen: true\n",
    ])
    func `a listener with access control gets no warning`(yaml: String) throws {
        #expect(try settings(yaml + provider).warnings == [])
    }

    @Test(arguments: [
        ("network: { allow_http: true }", "provider p: keys may be fetched without TLS (allow_http)"),
        (
            "network: { allow_private_addresses: true }",
            "provider p: keys may be fetched from private addresses (allow_private_addresses)"
        ),
        (
            "network: { allow_addresses: [10.0.0.0/8, 0.0.0.0/0] }",
            "provider p: allow_addresses allows all IPv4 or all IPv6 addresses"
        ),
        (
            "network: { allow_addresses: ['::/0'] }",
            "provider p: allow_addresses allows all IPv4 or all IPv6 addresses"
        ),
        ("nonce: { check: off }", "provider p: nonces are not checked (nonce.check: off)"),
        (
            "nonce: { match: [sha256_hex, plain] }",
            "provider p: nonce.match has plain in addition to a hash: an attacker who has only the token could send its nonce claim as the nonce; remove plain"
        ),
    ])
    func `each weak provider setting gets a warning`(line: String, warning: String) throws {
        let yaml = "providers:\n  - id: p\n" + indented("preset: apple\naudiences: [a]\n" + line)
        #expect(try settings(yaml).warnings == [warning])
    }

    @Test(arguments: [
        (
            "google", "123456789012-a1b2",
            ["Google's client IDs end with .apps.googleusercontent.com: write all of it"]
        ),
        ("google", "123456789012-a1b2.apps.googleusercontent.com", []),
        ("google", "https://service.example", []),
        (
            "apple", "ABCDE12345.com.example.app",
            [
                "Apple's tokens have the Bundle ID without the Team ID: if ABCDE12345 is your Team ID, write com.example.app"
            ]
        ),
        ("apple", "com.example.app", []), ("apple", "ABCDE12345.", []), ("apple", "ABCDE1234.com", []),
    ])
    func `an audience that no token of the provider has gets a warning`(
        preset: String, audience: String, advice: [String]
    ) throws {
        let yaml = "providers:\n  - id: p\n" + indented("preset: \(preset)\naudiences: [\"\(audience)\"]")
        #expect(try settings(yaml).warnings == advice.map { "provider p: audience \(audience): \($0)" })
    }

    @Test(arguments: [
        ("sign_ins: {}", ["sign_ins has no key_files: a restart invalidates pending sign-ins; set sign_ins.key_files"]),
        (
            "sign_ins: { key_files: [/k] }",
            [
                "sign_ins.key_files with store memory: every process with these keys can finish a sign-in once, and again after a restart; set sign_ins.store.url"
            ]
        ),
        ("sign_ins: { key_files: [/k], store: { url: 'redis://store:6379' } }", []),
        ("sign_ins: { key_files: [/k], store: { url: 'redis://store:6379', timeout: 1s } }", []),
        (
            "sign_ins: { key_files: [/k], store: { url: 'redis://store:6379', timeout: 1001ms } }",
            [
                "sign_ins.store.timeout is over 1s: a finish that waits for keys, the store and the provider may take longer than the 12s that clients wait; lower it"
            ]
        ),
        (
            "sign_ins: { key_files: [/k], store: { url: 'redis://store:6379', allow_eviction: true } }",
            [
                "sign_ins.store.allow_eviction: a store that evicts forgets what was used, such as sign-ins, nonces and DPoP proofs, which can then be used again; set maxmemory-policy noeviction instead"
            ]
        ),
        ("", []),
    ])
    func `sign-in settings for one process get a warning`(
        line: String, warnings: [String]
    ) throws {
        let yaml = "providers:\n  - id: p\n" + indented("preset: apple\naudiences: [a]") + "\n" + line
        #expect(try settings(yaml).warnings == warnings)
    }

    @Test(arguments: [
        ("redis://store:6379", true), ("redis://10.0.0.1", true), ("rediss://store:6379", false),
        ("redis://localhost", false), ("redis://127.0.0.1:6380", false), ("redis://[::1]", false),
        ("unix:/run/valkey.sock", false),
    ])
    func `a password that others on the network can read gets a warning`(url: String, warns: Bool) throws {
        func warnings(_ more: String) throws -> [String] {
            try settings(provider + "sign_ins: { key_files: [/k], store: { url: '\(url)'\(more) } }").warnings
        }
        let warning = "sign_ins.store: the password is sent without TLS: it can be read on the network; use rediss://"
        #expect(try warnings(", password_file: /p") == (warns ? [warning] : []))
        #expect(try warnings("") == [])
    }

    @Test func `credentials of clients that may be sent without TLS get a warning`() throws {
        let clients =
            "preset: google\naudiences: [a]\nclients:\n  - { id: a, auth: client_secret_post, secret_file: /s }\n"
        let warnings = try settings(
            "providers:\n  - id: p\n" + indented(clients + "network: { allow_http: true }")
        ).warnings
        #expect(
            warnings.contains(
                "provider p: client credentials, codes and tokens may be sent to its endpoints without TLS, and be read on the network (allow_http)"
            ))
        #expect(try settings("providers:\n  - id: p\n" + indented(clients)).warnings == [])
    }

    /// SHA-256 of `secret`, `test` and of a key that nobody guesses.
    @Test(arguments: [
        ("2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b", true),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", true),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a09", false),
    ])
    func `an API key that is easy to guess gets a warning`(digest: String, warns: Bool) throws {
        func warning(_ name: String) -> [String] {
            warns ? ["\(name) is the digest of a key that is easy to guess; create another with assay api-key"] : []
        }
        #expect(try settings("api_keys: [\(digest)]\n" + provider).warnings == warning("api_keys: key-1"))
        let named = "admin: { api_keys: [{ name: ops, sha256: \(digest) }] }\n"
        #expect(try settings(named + provider).warnings == warning("admin.api_keys: ops"))
    }

    @Test(arguments: ["", "sign_ins: {}", "sign_ins: { store: { url: memory } }"])
    func `single-use nonces without a shared store get a warning`(line: String) throws {
        let yaml = "providers:\n  - id: p\n" + indented("preset: apple\naudiences: [a]\nnonce: { single_use: true }")
        let warning =
            "provider p: nonce.single_use with store memory: every process accepts a nonce once, and again after a restart; with several instances, set sign_ins.store.url"
        #expect(try settings(yaml + "\n" + line).warnings.contains(warning))
        let shared = "\nsign_ins: { key_files: [/k], store: { url: 'redis://store:6379' } }"
        #expect(try settings(yaml + shared).warnings == [])
    }

    private static let accessTokens =
        "provider p: an access token could pass as an ID Token; require a nonce (nonce.required: true), or a claim that only ID Tokens have (required_claims: one of at_hash, c_hash, auth_time, sid)"

    @Test(arguments: [
        "", "preset: oidc", "preset: dex", "preset: ory", "required_claims: [email]",
        "claim_values: { hd: [a.example] }",
        "refused_claim_values: { typ: [Bearer] }", "refuse_access_tokens: false", "nonce: { required: false }",
    ])
    func `a provider whose access tokens could pass gets a warning`(lines: String) throws {
        let provider = "issuer: https://a.example\naudiences: [a]\n" + lines
        #expect(try settings("providers:\n  - id: p\n" + indented(provider)).warnings == [Self.accessTokens])
    }

    @Test(arguments: [
        "nonce: { required: true }", "required_claims: [auth_time]", "required_claims: [at_hash]",
        "required_claims: [c_hash]", "required_claims: [email, sid]", "required_claims: [nonce]",
        "claim_values: { typ: [ID] }", "claim_values: { token_use: id }", "preset: keycloak", "preset: zitadel",
    ])
    func `a nonce or a claim that marks ID Tokens spares the warning`(lines: String) throws {
        let provider = "issuer: https://a.example\naudiences: [a]\n" + lines
        #expect(try settings("providers:\n  - id: p\n" + indented(provider)).warnings == [])
    }

    @Test(arguments: [
        "nonce: { match: [plain] }", "nonce: { match: [sha256_hex, sha256_base64url] }", "optional: true",
        "network: { allow_addresses: [10.0.0.0/8, '::1', 0.0.0.0/1] }", "jwks_uri: https://a.example\njwks_file: /f",
    ])
    func `other provider settings get no warning`(line: String) throws {
        let yaml = "providers:\n  - id: p\n" + indented("preset: apple\naudiences: [a]\n" + line)
        #expect(try settings(yaml).warnings == [])
    }
}
