import IDToken
import JOSE
@testable import Settings
import Testing

@Suite struct EveryFaultTests {
    @Test func `all faults are reported at once: the file's by line, then variables, then missing settings`() throws {
        let yaml = """
            service: { listen: "127.0.0.1:99999" }
            clok_skew: 5s
            limits:
              max_body: 64KB
              max_boddy: 1KiB
            api_keys: [secret-one, secret-two]
            providers:
              - id: a
                preset: aple
                audience: [x]
              - id: b
                preset: google
              - id: c
                issuer: https://c.example
                audiences: [x]
                algorithms: [RS265]
                nonce: { match: [sha256-hex], reqired: true }

            """
        let presets = ProviderPreset.all.map(\.name).joined(separator: ", ")
        let algorithms = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
        let faults = try faults(yaml, ["ASSAY_LOG_LEVEL": "loud", "ASSAY_LOG_LEVLE": "info"])
        #expect(
            faults.map(\.description) == [
                "line 1: listen must be host:port or unix:/path, with a port from 0 to 65535; found \"127.0.0.1:99999\"",
                "line 2: unknown setting clok_skew; did you mean clock_skew?",
                "line 4: max_body must be a size such as 64KiB or 4MiB, 1024 to 16777216 bytes; found \"64KB\"",
                "line 5: unknown setting max_boddy; did you mean max_body?",
                "line 6: each of api_keys must be a SHA-256 digest in 64 hexadecimal digits; found a string of 10 characters",
                "line 9: preset must be one of \(presets); found \"aple\"; did you mean apple?",
                "line 10: unknown setting audience; did you mean audiences?",
                "line 16: each of algorithms must be one of \(algorithms); found \"RS265\"; did you mean RS256?",
                "line 17: each of match must be one of sha256_hex, sha256_base64url, plain; found \"sha256-hex\"; did you mean sha256_hex?",
                "line 17: unknown setting reqired; did you mean required?",
                "ASSAY_LOG_LEVEL must be one of debug, info, warning, error; found \"loud\"",
                "ASSAY_LOG_LEVLE is not a setting; did you mean ASSAY_LOG_LEVEL?",
                "line 11: provider b needs audiences: your client IDs there",
            ])
    }

    @Test func `a fault has no others in its train`() throws {
        for yaml in [
            // API keys would restrict access.
            "service: { listen: '0.0.0.0:1' }\napi_keys: [abc]\n" + provider,
            "service: { listen: '0.0.0.0:1', tls: { certificate_file: c, keyfile: k } }\n" + provider,
            "providers:\n  - { id: a, issuer: [], audiences: [a] }\n",
            "providers:\n  - { id: a, issuer: 'https://a.example/{tid', audiences: [a], tenants: [b] }\n",
            "providers:\n  - { id: a, preset: facebook, audience: 5 }\n",
            "providers:\n  - { id: a, preset: apple, audiences: [[]] }\n",
            "providers:\n  - { id: a, preset: oidc, audiences: [a] }\n  - { id: b, preset: apple, audiences: [a] }\n",
            "tracing: { otlp_endpoint: 5, service_name: a }\n" + provider,
            "- a\n",
        ] { _ = try fault(yaml) }
    }

    // MARK: Conflicting listeners

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1:8080"), ("127.0.0.1:8080", "localhost:8080"), ("0.0.0.0:8080", "127.0.0.1:8080"),
        ("[::1]:8080", "[::]:8080"), ("unix:/a", "unix:/a"),
    ])
    func `the service and the admin listener can't share a port or a path`(service: String, admin: String) throws {
        let yaml = "allow_insecure_listen: true\nservice: { listen: '\(service)' }\nadmin: { listen: '\(admin)' }\n"
        let fault = try fault(yaml + provider)
        #expect(fault.line == 3)
        #expect(fault.message.hasPrefix("service.listen and admin.listen collide: \(service) and "))
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1:8081"), ("127.0.0.1:0", "127.0.0.1:0"), ("127.0.0.1:8080", "127.0.0.2:8080"),
        ("unix:/a", "unix:/b"), ("unix:/a", "127.0.0.1:1"),
    ])
    func `listeners at two places are two`(service: String, admin: String) throws {
        _ = try settings("service: { listen: '\(service)' }\nadmin: { listen: '\(admin)' }\n" + provider)
    }

    @Test func `where one of them is the default, the other one's line is named`() throws {
        #expect(try fault("service: { listen: '127.0.0.1:9090' }\n" + provider).line == 1)
        #expect(try fault("admin: { listen: '127.0.0.1:8080' }\n" + provider).line == 1)
        #expect(try fault(provider, ["ASSAY_ADMIN_LISTEN": "127.0.0.1:8080"]).line == nil)
    }

    // MARK: Values in error messages

    @Test(arguments: [
        ("a\u{1}\u{202e}b\"c", "\"a\\u{1}\\u{202e}b\\\"c\""), ("", "an empty string"),
        ("https://user:password@a.example/p@q", "\"https://***@a.example/p@q\""),
        ("https://a.example/p@q", "\"https://a.example/p@q\""),
        ("https://a.example:80/p@q", "\"https://a.example:80/p@q\""),
        ("https://user:pass/w@rd@a.example", "\"https://***@a.example\""),
        ("redis://user:1/2@a.example", "\"redis://***@a.example\""),
        (String(repeating: "a", count: 101), "\"\(String(repeating: "a", count: 100))\"…"),
    ])
    func `what was found is shown on one line, without credentials`(text: String, shown: String) {
        #expect(ErrorValueText.of(text) == shown)
    }
}
