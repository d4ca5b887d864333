import HTTP
import IDToken
import JOSE
import Keys
import Settings
import Testing
import Verification

@Suite struct ReadingTests {
    /// The contract's example, extended by every other setting.
    private static let everything = """
        service: { listen: "127.0.0.1:8081" }        # or "unix:/run/assay/assay.sock"
        admin:   { listen: "[::1]:9091" }
        clock_skew: 45s                               # 0s to 300s
        cache_directory: /var/lib/assay
        keys: { stale_for: 36h, max_fetches: 16 }
        limits:
          max_body: 128KiB
          max_batch_body: 8MiB
          max_header: 32KiB
          max_buffered: 64MiB
          max_connections: 20000
          max_in_flight: 2048
          request_timeout: 20s
          keys_timeout: 7s
          queue_timeout: 250ms
        verified_token_cache: { entries: 500 }
        api_keys:
          - 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
        shutdown_delay: 3s
        shutdown_grace: 15s
        log: { level: debug, requests: false }
        providers:
          - id: apple
            preset: apple
            audiences: [com.example.app, com.example.web]
          - id: oidc.example
            issuer: https://auth.example.com
            issuer_aliases: [https://old.example.com]
            audiences: [my-client-id]
            trusted_audiences: [other-client]
            authorized_parties: [my-client-id, my-app]
            algorithms: [RS256, ES256]
            nonce: { match: [plain, sha256_base64url], required: true }
            clock_skew: 30s
            max_token_age: 1h
            required_claims: [email]
            private_email_domains: [relay.example.com]
            optional: true
            discovery_url: https://auth.example.com/tenant/.well-known/openid-configuration
            jwks_file: /etc/assay/keys.json
            network:
              allow_http: true
              allow_private_addresses: true
              allow_addresses: ["10.0.0.0/8", "::1", 192.0.2.7]
              ca_file: /etc/assay/ca.pem

        """

    @Test func `everything that can be set is read`() throws {
        let settings = try settings(Self.everything)
        #expect(settings.service.listen == .network(host: "127.0.0.1", port: 8081))
        #expect(settings.admin.listen == .network(host: "::1", port: 9091))
        #expect(settings.cacheDirectory == "/var/lib/assay")
        #expect(settings.keys.staleIfErrorSeconds == 36 * 3600)
        #expect(settings.keys.maximumFetches == 16)
        #expect(settings.limits.maximumBody == 128 * 1024)
        #expect(settings.limits.maximumBatchBody == 8 * 1024 * 1024)
        #expect(settings.limits.listener.maximumHeader == 32 * 1024)
        #expect(settings.limits.listener.maximumBuffered == 64 * 1024 * 1024)
        #expect(settings.limits.listener.maximumConnections == 20_000)
        #expect(settings.limits.listener.maximumInFlight == 2048)
        #expect(settings.limits.listener.requestTimeoutSeconds == 20)
        #expect(settings.limits.keysTimeoutSeconds == 7)
        #expect(settings.limits.queueTimeoutMilliseconds == 250)
        #expect(settings.verifiedTokenCacheEntries == 500)
        #expect(settings.apiKeys.map(\.digest).map(\.count) == [32])
        #expect(settings.apiKeys.map(\.digest)[0].prefix(4) == [0x2c, 0x26, 0xb4, 0x6b])
        #expect(settings.shutdownDelaySeconds == 3)
        #expect(settings.shutdownGraceSeconds == 15)
        #expect(settings.log.level == .debug)
        #expect(settings.log.requests == .none)
        #expect(settings.providers.map(\.policy.id) == ["apple", "oidc.example"])
    }

    @Test func `everything that can be set of a provider is read`() throws {
        let provider = try settings(Self.everything).providers[1]
        let policy = provider.policy
        #expect(policy.issuer == "https://auth.example.com")
        #expect(policy.issuerAliases == ["https://old.example.com"])
        #expect(policy.audiences == ["my-client-id"])
        #expect(policy.trustedAudiences == ["other-client"])
        #expect(policy.authorizedParties == ["my-client-id", "my-app"])
        #expect(policy.algorithms == [.rs256, .es256])
        #expect(policy.nonce.accepted == [.plain, .sha256Base64URL])
        #expect(policy.nonce.isRequired)
        #expect(policy.nonce.isChecked)
        #expect(policy.clockSkewSeconds == 30)
        #expect(policy.maximumTokenAgeSeconds == 3600)
        #expect(policy.requiredClaims == [ClaimName("email")])
        #expect(policy.email.privateDomains == ["relay.example.com"])
        #expect(provider.isOptional)
        #expect(
            provider.keys
                == .discovery(
                    of: provider.policy, url: "https://auth.example.com/tenant/.well-known/openid-configuration",
                    fallbackFile: "/etc/assay/keys.json"))
        #expect(provider.network.allowHTTP)
        #expect(provider.network.allowPrivateAddresses)
        #expect(provider.network.allowedAddresses == ["10.0.0.0/8", "::1", "192.0.2.7"].map { AddressBlock($0) })
        #expect(provider.network.caFile == "/etc/assay/ca.pem")
    }

    @Test func `a preset brings its own, and takes the clock skew of all`() throws {
        let apple = try settings(Self.everything).providers[0]
        #expect(apple.policy.issuer == "https://appleid.apple.com")
        #expect(apple.policy.audiences == ["com.example.app", "com.example.web"])
        #expect(apple.policy.algorithms == [.rs256])
        #expect(apple.policy.nonce.accepted == [.sha256Hex])
        #expect(apple.policy.clockSkewSeconds == 45)
        #expect(apple.policy.reportsRealUserStatus)
        #expect(apple.policy.email.privateDomains == ["privaterelay.appleid.com", "private.icloud.com"])
        #expect(apple.keys == .network(.jwkSet(address: "https://appleid.apple.com/auth/keys")))
        #expect(!apple.isOptional)
        #expect(apple.network == NetworkRules())
    }

    @Test func `what is not set is as the contract says`() throws {
        let settings = try settings(provider)
        #expect(settings.service.listen == .network(host: "127.0.0.1", port: 8080))
        #expect(settings.admin.listen == .network(host: "127.0.0.1", port: 9090))
        #expect(settings.cacheDirectory == nil)
        #expect(settings.keys.staleIfErrorSeconds == 86400)
        #expect(settings.keys.maximumFetches == 64)
        #expect(settings.limits == Settings().limits)
        #expect(settings.limits.maximumBody == 65536)
        #expect(settings.limits.maximumBatchBody == 4 * 1024 * 1024)
        #expect(settings.limits.listener.maximumHeader == 16384)
        #expect(settings.limits.listener.maximumBuffered == 32 * 1024 * 1024)
        #expect(settings.limits.listener.maximumConnections == 10_000)
        #expect(settings.limits.listener.maximumInFlight == 1024)
        #expect(settings.limits.listener.requestTimeoutSeconds == 10)
        #expect(settings.limits.keysTimeoutSeconds == 5)
        #expect(settings.limits.queueTimeoutMilliseconds == 500)
        #expect(settings.verifiedTokenCacheEntries == 10_000)
        #expect(settings.apiKeys.map(\.digest) == [])
        #expect(settings.shutdownDelaySeconds == 0)
        #expect(settings.shutdownGraceSeconds == 10)
        #expect(settings.log == Settings().log)
        #expect(settings.log.level == .info)
        #expect(settings.log.requests == .all)
        #expect(settings.providers[0].policy.clockSkewSeconds == 60)
        #expect(settings.providers[0].policy.maximumTokenAgeSeconds == nil)
        #expect(settings.warnings == [])
    }

    @Test func `a provider without a preset follows its discovery document`() throws {
        let provider = try read(provider: "issuer: https://auth.example.com\naudiences: [a]")
        #expect(provider.keys == .discovery(of: provider.policy))
        #expect(provider.policy.algorithms == nil)
        #expect(provider.policy.nonce == NonceRule())
        #expect(provider.policy.nonce.accepted == [.plain])
        #expect(!provider.policy.reportsRealUserStatus)
        #expect(provider.policy.email == EmailRule())
    }

    @Test func `what stands beside a preset overrides it`() throws {
        let provider = try read(
            provider: """
                preset: apple
                issuer: http://127.0.0.1:9400/apple
                jwks_uri: http://127.0.0.1:9400/apple/keys
                network: { allow_http: true, allow_private_addresses: true }
                audiences: [a]
                algorithms: [ES256]
                nonce: { match: [plain, sha256_hex] }
                private_email_domains: []
                issuer_aliases: ["https://account.apple.com"]
                """)
        #expect(provider.policy.issuer == "http://127.0.0.1:9400/apple")
        #expect(provider.policy.issuerAliases == ["https://account.apple.com"])
        #expect(provider.keys == .network(.jwkSet(address: "http://127.0.0.1:9400/apple/keys")))
        #expect(provider.policy.algorithms == [.es256])
        #expect(provider.policy.nonce.accepted == [.plain, .sha256Hex])
        #expect(provider.policy.email.privateDomains == [])
        // Everything that is not overridden is still Apple's.
        #expect(provider.policy.reportsRealUserStatus)
        #expect(provider.policy.email.authoritativeDomains.contains("icloud.com"))
    }

    @Test(arguments: [
        ("jwks_uri: https://k.example/keys", KeyLocation.network(.jwkSet(address: "https://k.example/keys"))),
        ("jwks_file: /etc/assay/keys.json", .file(path: "/etc/assay/keys.json")),
    ])
    func `keys can be elsewhere than the preset says`(line: String, keys: KeyLocation) throws {
        #expect(try read(provider: "preset: apple\naudiences: [a]\n" + line).keys == keys)
    }

    @Test func `a discovery document can be read where the preset reads none`() throws {
        let apple = try read(provider: "preset: apple\naudiences: [a]\ndiscovery_url: https://d.example/d")
        #expect(apple.keys == .discovery(of: apple.policy, url: "https://d.example/d"))
    }

    @Test(
        arguments: [
            (
                "jwks_uri: https://k.example/keys\njwks_file: /f",
                KeyLocation.network(.jwkSet(address: "https://k.example/keys"), fallbackFile: "/f")
            ),
            (
                "jwks_file: /f\njwks_uri: https://k.example/keys",
                .network(.jwkSet(address: "https://k.example/keys"), fallbackFile: "/f")
            ),
            ("jwks_uri: https://k.example/keys\njwks_file:", .network(.jwkSet(address: "https://k.example/keys"))),
        ], ["apple", "google", "oidc"])
    func `a file beside a URL that is written out is what to fall back on, with every preset`(
        written: (lines: String, keys: KeyLocation), preset: String
    ) throws {
        let text = "preset: \(preset)\nissuer: https://a.example\naudiences: [a]\n" + written.lines
        #expect(try read(provider: text).keys == written.keys)
    }

    @Test(arguments: ["apple", "google", "oidc"])
    func `so it is beside the URL of a discovery document`(preset: String) throws {
        let provider = try read(
            provider: "preset: \(preset)\nissuer: https://a.example\naudiences: [a]\n"
                + "discovery_url: https://d.example/d\njwks_file: /f")
        #expect(
            provider.keys == .discovery(of: provider.policy, url: "https://d.example/d", fallbackFile: "/f"))
    }

    /// The preset's own URL is not shown.
    @Test(arguments: ["apple", "google", "oidc"])
    func `a file alone is where the keys are, with every preset`(preset: String) throws {
        let text = "preset: \(preset)\nissuer: https://a.example\naudiences: [a]\njwks_file: /f"
        #expect(try read(provider: text).keys == .file(path: "/f"))
    }

    @Test func `a file of the environment's falls back too`() throws {
        let yaml = "preset: apple\naudiences: [a]\njwks_uri: https://k.example/keys"
        #expect(
            try read(provider: yaml, ["ASSAY_PROVIDERS_P_JWKS_FILE": "/f"]).keys
                == .network(.jwkSet(address: "https://k.example/keys"), fallbackFile: "/f"))
    }

    @Test(
        arguments: [
            ("[]", []), ("[10.0.0.0/8]", ["10.0.0.0/8"]), ("[127.0.0.1]", ["127.0.0.1/32"]), ("['::1']", ["::1"]),
            ("['fd00::/8', 192.168.0.0/16, 10.1.2.3]", ["fd00::/8", "192.168.0.0/16", "10.1.2.3"]),
            ("['::/0', 0.0.0.0/0]", ["::/0", "0.0.0.0/0"]), ("[10.0.0.0/8, 10.0.0.0/8]", ["10.0.0.0/8", "10.0.0.0/8"]),
        ])
    func `addresses to allow are blocks and single ones`(list: String, blocks: [String]) throws {
        let network = try read(
            provider: "preset: apple\naudiences: [a]\nnetwork: { allow_addresses: \(list) }"
        ).network
        #expect(network.allowedAddresses == blocks.compactMap { AddressBlock($0) })
        #expect(network.allowedAddresses.count == blocks.count)
        #expect(!network.allowPrivateAddresses)
    }

    @Test func `Google's other spelling of itself comes with its preset`() throws {
        let google = try read(provider: "preset: google\naudiences: [a]")
        #expect(google.policy.issuer == "https://accounts.google.com")
        #expect(google.policy.issuerAliases == ["accounts.google.com"])
        #expect(google.policy.email.trustsHostedDomain)
        #expect(google.keys == .discovery(of: google.policy))
    }

    // MARK: YAML lists and strings

    @Test func `numbers and words that YAML is tempted to read otherwise stay text`() throws {
        let provider = try read(
            provider: """
                issuer: https://auth.example.com
                audiences: [0123, 1.50, no, yes, 2024-01-01, 0x10, 1e3, "quoted", 'single', 12:30:00]
                """)
        #expect(
            provider.policy.audiences
                == ["0123", "1.50", "no", "yes", "2024-01-01", "0x10", "1e3", "quoted", "single", "12:30:00"])
        let numbered = try settings("providers:\n  - { id: 007, preset: apple, audiences: [a] }\n")
        #expect(numbered.providers[0].policy.id == "007")
    }

    @Test func `block and flow style, quotes and comments are all the same to it`() throws {
        let yaml = """
            # A comment first.
            ---
            "providers":
              -
                id: a
                issuer: https://a.example
                audiences:
                  - one   # here too
                  - two
              - {id: b, issuer: 'https://b.example', audiences: [one,
                  "two"]}
            """
        let settings = try settings(yaml)
        #expect(settings.providers.map(\.policy.id) == ["a", "b"])
        #expect(settings.providers.map(\.policy.audiences) == [["one", "two"], ["one", "two"]])
    }

    @Test func `a key with nothing behind it is as good as none`() throws {
        let settings = try settings("service:\nlimits: ~\nclock_skew: null\ncache_directory:\n" + provider)
        #expect(settings.service.listen == .network(host: "127.0.0.1", port: 8080))
        #expect(settings.providers[0].policy.clockSkewSeconds == 60)
    }

    @Test(arguments: [
        ("127.0.0.1:0", ListenAddress.network(host: "127.0.0.1", port: 0)),
        ("0.0.0.0:65535", .network(host: "0.0.0.0", port: 65535)),
        ("localhost:80", .network(host: "localhost", port: 80)),
        ("[::]:8081", .network(host: "::", port: 8081)),
        ("unix:/run/assay/assay.sock", .unixSocket(path: "/run/assay/assay.sock")),
    ])
    func `a listener listens on a port or a path`(text: String, listen: ListenAddress) throws {
        let insecure = "allow_insecure_listen: true\n" + provider
        #expect(try settings("service: { listen: \"\(text)\" }\n" + insecure).service.listen == listen)
        #expect(try settings("admin: { listen: '\(text)' }\n" + insecure).admin.listen == listen)
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.9.9.9:1", true), ("[::1]:1", true), ("localhost:1", true), ("unix:/a", true),
        ("127.0.0.0:1", true), ("127.255.255.255:1", true), ("[0:0:0:0:0:0:0:1]:1", true),
        ("[::ffff:127.0.0.1]:1", true),
        ("0.0.0.0:1", false), ("[::]:1", false), ("10.0.0.1:1", false), ("example.com:1", false),
        ("126.255.255.255:1", false), ("128.0.0.0:1", false), ("[::2]:1", false), ("[::ffff:10.0.0.1]:1", false),
        // Host names that only look like loopback addresses.
        ("127.example.com:1", false), ("127.0.0.1.example.com:1", false), ("127.1:1", false),
        ("localhost.example.com:1", false),
    ])
    func `what only this machine can reach is known`(text: String, isLocal: Bool) {
        #expect(ListenAddress(text)?.isLocal == isLocal)
    }

    // MARK: Quantities

    @Test(arguments: [("0s", 0), ("300s", 300), ("5m", 300), ("0h", 0), ("060s", 60)] as [(String, Int64)])
    func `a clock skew is a duration up to five minutes`(text: String, seconds: Int64) throws {
        let settings = try settings("clock_skew: \(text)\n" + provider)
        #expect(settings.providers[0].policy.clockSkewSeconds == seconds)
    }

    @Test(
        arguments: [("720h", 720 * 3600), ("30d", 30 * 86400), ("0s", 0), ("43200m", 30 * 86400)] as [(String, Int64)])
    func `keys may be stale for thirty days`(text: String, seconds: Int64) throws {
        #expect(try settings("keys: { stale_for: \(text) }\n" + provider).keys.staleIfErrorSeconds == seconds)
    }

    @Test(arguments: [("1024", 1024), ("1024B", 1024), ("1KiB", 1024), ("16MiB", 16 * 1024 * 1024), ("2000", 2000)])
    func `a size is a number of bytes, KiB or MiB`(text: String, bytes: Int) throws {
        #expect(try settings("limits: { max_body: \(text) }\n" + provider).limits.maximumBody == bytes)
    }
}
