import HTTP
import Settings
import Testing

@Suite struct ChangeTests {
    private static let text = """
        service: { listen: "127.0.0.1:8080" }
        admin: { listen: "127.0.0.1:9090" }
        clock_skew: 60s
        cache_directory: /var/lib/assay
        keys: { stale_for: 24h }
        limits: { max_body: 64KiB, max_batch_body: 4MiB, max_header: 16KiB, max_buffered: 32MiB, max_connections: 1000,
          max_in_flight: 100, request_timeout: 10s, idle_timeout: 75s, keys_timeout: 5s, queue_timeout: 1s }
        log: { level: info, requests: true }
        verified_token_cache: { entries: 100 }
        shutdown_delay: 5s
        shutdown_grace: 10s
        api_keys: []

        """

    /// The settings that need a restart after part of the text was replaced.
    private func changes(_ old: String, _ new: String) throws -> [String] {
        let changed = Self.text.replacing(old, with: new)
        try #require(changed != Self.text)
        return try settings(changed + provider).changesThatNeedRestart(from: settings(Self.text + provider))
    }

    @Test func `nothing has changed in the same settings`() throws {
        let same = try settings(Self.text + provider)
        #expect(same.changesThatNeedRestart(from: same).isEmpty)
    }

    @Test(arguments: [
        ("service: { listen: \"127.0.0.1:8080\"", "service: { listen: \"127.0.0.1:8081\"", "service.listen"),
        ("service: { listen: \"127.0.0.1:8080\"", "service: { listen: \"unix:/run/a.sock\"", "service.listen"),
        ("admin: { listen: \"127.0.0.1:9090\"", "admin: { listen: \"127.0.0.2:9090\"", "admin.listen"),
        ("127.0.0.1:9090\"", "127.0.0.1:9090\", max_connections: 65", "admin.max_connections"),
        ("cache_directory: /var/lib/assay", "cache_directory: /var/lib/other", "cache_directory"),
        ("cache_directory: /var/lib/assay\n", "", "cache_directory"),
        ("max_header: 16KiB", "max_header: 32KiB", "limits.max_header"),
        ("max_buffered: 32MiB", "max_buffered: 31MiB", "limits.max_buffered"),
        ("max_connections: 1000", "max_connections: 1001", "limits.max_connections"),
        ("max_in_flight: 100", "max_in_flight: 101", "limits.max_in_flight"),
        ("request_timeout: 10s", "request_timeout: 11s", "limits.request_timeout"),
        ("idle_timeout: 75s", "idle_timeout: 76s", "limits.idle_timeout"),
    ]) func `what listens and where keys are kept waits for a restart`(old: String, new: String, name: String) throws {
        #expect(try changes(old, new) == [name])
    }

    @Test(arguments: [
        ("clock_skew: 60s", "clock_skew: 30s"), ("stale_for: 24h", "stale_for: 1h"),
        ("max_body: 64KiB", "max_body: 32KiB"), ("max_batch_body: 4MiB", "max_batch_body: 8MiB"),
        ("keys_timeout: 5s", "keys_timeout: 6s"), ("queue_timeout: 1s", "queue_timeout: 2s"),
        ("level: info", "level: debug"),
        ("requests: true", "requests: false"), ("127.0.0.1:9090\"", "127.0.0.1:9090\", console: true"),
        ("entries: 100", "entries: 0"), ("shutdown_grace: 10s", "shutdown_grace: 20s"),
        ("shutdown_delay: 5s", "shutdown_delay: 0s"),
        ("api_keys: []", "api_keys: [\(String(repeating: "0", count: 64))]"),
    ]) func `everything else can change at once`(old: String, new: String) throws {
        #expect(try changes(old, new).isEmpty)
    }

    /// Only names are reported, because a value may be a secret.
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1:8081", ["service.listen"]),
        ("127.0.0.1:9090\"", "127.0.0.1:9090\", console: true, hosts: [a]", ["admin.hosts", "admin.console"]),
        ("clock_skew: 60s", "clock_skew: 30s", ["clock_skew", "providers.apple"]),
        ("stale_for: 24h", "stale_for: 1h", ["keys.stale_for"]),
        ("max_body: 64KiB, max_batch_body: 4MiB", "max_body: 65KiB", ["limits.max_body"]),
        ("level: info", "level: debug", ["log.level"]),
        ("entries: 100", "entries: 0", ["verified_token_cache.entries"]),
        ("shutdown_delay: 5s\nshutdown_grace: 10s", "", ["shutdown_delay"]),
        ("api_keys: []", "api_keys: [\(String(repeating: "0", count: 64))]", ["api_keys"]),
        ("api_keys: []", "allow_insecure_listen: true", ["allow_insecure_listen"]),
    ]) func `each changed section is named`(old: String, new: String, names: [String]) throws {
        let changed = Self.text.replacing(old, with: new)
        try #require(changed != Self.text)
        #expect(try settings(changed + provider).changes(from: settings(Self.text + provider)) == names)
    }

    @Test func `other providers can come at once`() throws {
        let other = provider.replacing("com.example.app", with: "com.example.other")
        #expect(try settings(Self.text + other).changesThatNeedRestart(from: settings(Self.text + provider)).isEmpty)
    }

    @Test func `every change is named`() throws {
        var changed = try settings(Self.text + provider)
        changed.service.listen = .network(host: "127.0.0.1", port: 1)
        changed.cacheDirectory = nil
        #expect(
            try changed.changesThatNeedRestart(from: settings(Self.text + provider)) == [
                "service.listen", "cache_directory",
            ])
    }
}

@Suite struct KeyOriginTests {
    private static let usual = "issuer: https://op.example\naudiences: [a]\n"

    private func hasSameOrigin(_ text: String, as usual: String = usual) throws -> Bool {
        try read(provider: text).sharesKeys(with: read(provider: usual))
    }

    @Test(arguments: [
        "audiences: [b]", "audiences: [a]\nclock_skew: 10s", "audiences: [a]\nmax_token_age: 1h",
        "audiences: [a]\nrequired_claims: [email]", "audiences: [a]\noptional: true",
        "audiences: [a]\nnonce: { required: true }", "audiences: [a]\nissuer_aliases: [https://old.example]",
        "audiences: [a]\ntrusted_audiences: [b]", "audiences: [a]\nauthorized_parties: [a]",
    ]) func `another policy leaves the keys where they are`(text: String) throws {
        #expect(try hasSameOrigin("issuer: https://op.example\n" + text))
    }

    @Test(arguments: [
        "issuer: https://op.example/\naudiences: [a]", "\(usual)discovery_url: https://op.example/d",
        "\(usual)jwks_uri: https://op.example/k", "\(usual)jwks_file: /k.json",
        "\(usual)network: { allow_private_addresses: true }", "\(usual)network: { allow_http: true }",
        "\(usual)network: { allow_addresses: [10.0.0.1] }", "\(usual)network: { ca_file: /ca.pem }",
        "\(usual)algorithms: [RS256]",
    ]) func `another place or another way to it is another origin`(text: String) throws {
        #expect(try !hasSameOrigin(text))
    }

    @Test func `a fallback is part of the origin`() throws {
        let place = Self.usual + "jwks_uri: https://op.example/k\n"
        #expect(try !hasSameOrigin(place + "jwks_file: /k.json", as: place))
    }

    @Test func `algorithms are no part of it where they are the operator's either way`() throws {
        #expect(try hasSameOrigin(Self.usual + "algorithms: [RS256]", as: Self.usual + "algorithms: [ES256]"))
        let place = Self.usual + "jwks_uri: https://op.example/k\n"
        #expect(try hasSameOrigin(place + "algorithms: [RS256]", as: place))
    }

    @Test func `the same settings under another id are another provider`() throws {
        let one = try settings("providers:\n  - id: one\n" + indented(Self.usual)).providers[0]
        let two = try settings("providers:\n  - id: two\n" + indented(Self.usual)).providers[0]
        #expect(!one.sharesKeys(with: two))
    }
}
