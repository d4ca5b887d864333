import HTTP
import IDToken
import Keys
@testable import Settings
import Testing
import Verification

@Suite struct EnvironmentTests {
    private static let two = """
        service: { listen: "127.0.0.1:8081" }
        clock_skew: 45s
        log: { level: debug }
        providers:
          - id: apple
            preset: apple
            audiences: [com.example.app]
          - id: oidc.example
            issuer: https://auth.example.com
            audiences: [my-client-id]
            clock_skew: 30s
            nonce: { required: false }

        """

    @Test func `every scalar can be overridden`() throws {
        let settings = try settings(
            Self.two,
            [
                "ASSAY_SERVICE_LISTEN": "unix:/run/a.sock", "ASSAY_ADMIN_LISTEN": "0.0.0.0:9999",
                "ASSAY_SERVICE_SOCKET_MODE": "0660", "ASSAY_SERVICE_SOCKET_GROUP": "backend",
                "ASSAY_ADMIN_TLS_CERTIFICATE_FILE": "/c", "ASSAY_ADMIN_TLS_KEY_FILE": "/k",
                "ASSAY_ADMIN_TLS_CLIENT_CA_FILE": "/a", "ASSAY_ALLOW_INSECURE_LISTEN": "true",
                "ASSAY_CLOCK_SKEW": "10s", "ASSAY_CACHE_DIRECTORY": "/cache", "ASSAY_KEYS_STALE_FOR": "1h",
                "ASSAY_LIMITS_MAX_BODY": "2KiB", "ASSAY_LIMITS_MAX_BATCH_BODY": "3KiB",
                "ASSAY_LIMITS_MAX_HEADER": "4KiB", "ASSAY_LIMITS_MAX_BUFFERED": "64KiB",
                "ASSAY_LIMITS_MAX_CONNECTIONS": "5",
                "ASSAY_LIMITS_MAX_IN_FLIGHT": "6", "ASSAY_LIMITS_REQUEST_TIMEOUT": "7s",
                "ASSAY_LIMITS_KEYS_TIMEOUT": "8s", "ASSAY_VERIFIED_TOKEN_CACHE_ENTRIES": "9",
                "ASSAY_SHUTDOWN_GRACE": "11s", "ASSAY_LOG_LEVEL": "error", "ASSAY_LOG_REQUESTS": "false",
            ])
        let socket = SocketPermissions(mode: 0o660, group: "backend")
        #expect(settings.service == Settings.Listener(.unixSocket(path: "/run/a.sock", socket)))
        let tls = TLSFiles(certificate: "/c", key: "/k", clientAuthorities: "/a")
        #expect(settings.admin == Settings.Listener(.network(host: "0.0.0.0", port: 9999), tls: tls))
        #expect(settings.allowsInsecureListen)
        #expect(settings.providers[0].policy.clockSkewSeconds == 10)
        #expect(settings.cacheDirectory == "/cache")
        #expect(settings.keys.staleIfErrorSeconds == 3600)
        #expect(settings.limits.maximumBody == 2048)
        #expect(settings.limits.maximumBatchBody == 3072)
        #expect(settings.limits.listener.maximumHeader == 4096)
        #expect(settings.limits.listener.maximumBuffered == 65536)
        #expect(settings.limits.listener.maximumConnections == 5)
        #expect(settings.limits.listener.maximumInFlight == 6)
        #expect(settings.limits.listener.requestTimeoutSeconds == 7)
        #expect(settings.limits.keysTimeoutSeconds == 8)
        #expect(settings.verifiedTokenCacheEntries == 9)
        #expect(settings.shutdownGraceSeconds == 11)
        #expect(settings.log.level == .error)
        #expect(settings.log.requests == .none)
        let refused = try Settings(yaml: Self.two, environment: ["ASSAY_LOG_REQUESTS": "refused"])
        #expect(refused.log.requests == .refused)
    }

    @Test func `every scalar of a provider can be overridden, its id in capitals and underscores`() throws {
        let prefix = "ASSAY_PROVIDERS_OIDC_EXAMPLE_"
        let provider = try settings(
            Self.two,
            [
                prefix + "ISSUER": "http://other.example", prefix + "CLOCK_SKEW": "5s",
                prefix + "MAX_TOKEN_AGE": "2h", prefix + "OPTIONAL": "true", prefix + "NONCE_REQUIRED": "true",
                prefix + "NONCE_CHECK": "on", prefix + "NETWORK_ALLOW_HTTP": "true",
                prefix + "NETWORK_ALLOW_PRIVATE_ADDRESSES": "true", prefix + "NETWORK_CA_FILE": "/ca.pem",
                prefix + "JWKS_URI": "http://other.example/keys",
            ]
        ).providers[1]
        #expect(provider.policy.issuer == "http://other.example")
        #expect(provider.policy.clockSkewSeconds == 5)
        #expect(provider.policy.maximumTokenAgeSeconds == 7200)
        #expect(provider.isOptional)
        #expect(provider.policy.nonce.isRequired)
        #expect(provider.network.allowHTTP)
        #expect(provider.network.allowPrivateAddresses)
        #expect(provider.network.caFile == "/ca.pem")
        #expect(provider.keys == .network(.jwkSet(address: "http://other.example/keys")))
    }

    @Test func `one provider's variables leave the others alone`() throws {
        let settings = try settings(Self.two, ["ASSAY_PROVIDERS_OIDC_EXAMPLE_CLOCK_SKEW": "5s"])
        #expect(settings.providers.map(\.policy.clockSkewSeconds) == [45, 5])
    }

    @Test func `a provider's own clock skew outranks that of all, wherever it comes from`() throws {
        let settings = try settings(Self.two, ["ASSAY_CLOCK_SKEW": "10s"])
        #expect(settings.providers.map(\.policy.clockSkewSeconds) == [10, 30])
    }

    @Test(arguments: [
        ("ASSAY_CLOCK_SKEW", "301s", "a duration such as 30s, 5m or 24h, 0s to 300s"),
        ("ASSAY_CLOCK_SKEW", "", "a duration such as 30s, 5m or 24h, 0s to 300s"),
        ("ASSAY_SERVICE_LISTEN", "here", "host:port or unix:/path"),
        ("ASSAY_LOG_REQUESTS", "yes", "true, false or refused"),
        ("ASSAY_LIMITS_MAX_IN_FLIGHT", "0", "an integer from 1 to 1000000"),
        ("ASSAY_PROVIDERS_APPLE_PRESET", "facebook", "one of apple, auth0, authentik, aws-alb"),
        ("ASSAY_PROVIDERS_APPLE_JWKS_URI", "http://a.example", "a URL that begins with https://"),
    ])
    func `a bad variable is named, and no line with it`(name: String, value: String, expected: String) throws {
        let fault = try fault(Self.two, [name: value])
        #expect(fault.line == nil)
        #expect(fault.description.hasPrefix("\(name) must be \(expected)"), "\(fault.description)")
    }

    @Test func `a variable does not excuse a misspelt key in the file`() throws {
        #expect(try fault("clock_skwe: 5s\n" + provider, ["ASSAY_CLOCK_SKEW": "5s"]).line == 1)
    }

    @Test func `lists of scalars can be set, separated by commas`() throws {
        let digest = String(repeating: "0f", count: 32)
        let settings = try settings(
            provider,
            [
                "ASSAY_API_KEYS": "\(digest), \(digest)", "ASSAY_ADMIN_API_KEYS": digest,
                "ASSAY_PROVIDERS_APPLE_AUDIENCES": "one,two", "ASSAY_PROVIDERS_APPLE_NONCE_MATCH": "plain",
                "ASSAY_PROVIDERS_APPLE_NETWORK_ALLOW_ADDRESSES": "10.0.0.0/8,::1",
            ])
        #expect(settings.apiKeys.map(\.digest) == Array(repeating: [UInt8](repeating: 0x0f, count: 32), count: 2))
        #expect(settings.adminAPIKeys?.count == 1)
        #expect(settings.providers[0].policy.audiences == ["one", "two"])
        #expect(settings.providers[0].policy.nonce.accepted == [.plain])
        #expect(settings.providers[0].network.allowedAddresses.count == 2)
        let none = try Settings(
            yaml: "providers: [{ id: a, preset: apple, authorized_parties: [p] }]",
            environment: ["ASSAY_PROVIDERS_A_AUDIENCES": "none"])
        #expect(none.providers[0].policy.audiences == [])
    }

    @Test(arguments: ["my-secret-key", "", ",", "my-secret-key,my-secret-key"])
    func `a bad element is refused, and no key is repeated`(value: String) throws {
        let faults = try faults(provider, ["ASSAY_API_KEYS": value])
        for fault in faults {
            #expect(fault.message.hasPrefix("each of ASSAY_API_KEYS, separated by commas, must be a SHA-256 digest"))
            #expect(!fault.message.contains("secret"))
        }
    }

    @Test(arguments: [
        ("ASSAY_CLOK_SKEW", "ASSAY_CLOCK_SKEW"), ("ASSAY_SERVICE_LISTENS", "ASSAY_SERVICE_LISTEN"),
        ("ASSAY_API_KEY", "ASSAY_API_KEYS"), ("ASSAY_PROVIDERS_APPEL_AUDIENCES", "ASSAY_PROVIDERS_APPLE_AUDIENCES"),
        ("ASSAY_WHATEVER_IT_IS", nil), ("ASSAY_", nil), ("ASSAY_PROVIDERS_GOOGLE_CA", nil),
    ])
    func `a variable that names nothing is refused, and its value not shown`(name: String, nearest: String?) throws {
        let fault = try fault(provider, [name: "my-secret-key"])
        #expect(fault.line == nil)
        #expect(fault.message == "\(name) is not a setting" + (nearest.map { "; did you mean \($0)?" } ?? ""))
    }

    @Test(arguments: ["ASSAY_SERVICE", "ASSAY_LIMITS", "ASSAY_PROVIDERS", "ASSAY_PROVIDERS_APPLE", "ASSAY_SERVICE_TLS"])
    func `a variable that names a mapping is refused`(name: String) throws {
        #expect(
            try fault(provider, [name: "x"]).message.hasPrefix("\(name) is a mapping and can't be set by one variable"))
    }

    @Test func `variables with other names are ignored`() throws {
        let settings = try settings(
            provider, ["ASSAY_CONFIG": "/etc/assay.yaml", "CLOCK_SKEW": "1s", "assay_clock_skew": "1s"])
        #expect(settings.providers[0].policy.clockSkewSeconds == 60)
        #expect(settings.warnings == [])
    }

    @Test(arguments: ["ASSAY", "ASSAY_METRICS", "ASSAY_SERVICE", "ASSAY_PROVIDERS_APPLE"])
    func `Kubernetes' variables for a Service whose name begins with assay are warned of by name`(
        service: String
    ) throws {
        let links = [
            "PORT": "tcp://10.0.0.1:8080", "SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "8080",
            "SERVICE_PORT_HTTP": "8080", "SERVICE_PORT_HTTP_METRICS": "9090", "PORT_8080_TCP": "tcp://10.0.0.1:8080",
            "PORT_8080_TCP_PROTO": "tcp", "PORT_8080_TCP_PORT": "8080", "PORT_8080_TCP_ADDR": "10.0.0.1",
            "PORT_53_UDP": "udp://[fd00::1]:53", "PORT_53_UDP_PROTO": "udp", "PORT_53_UDP_PORT": "53",
            "PORT_53_UDP_ADDR": "fd00::1",
        ].reduce(into: [:]) { $0["\(service)_\($1.key)"] = $1.value }
        let settings = try settings(provider, links.merging(["ASSAY_SERVICE_LISTEN": "127.0.0.1:1"]) { $1 })
        #expect(settings.service.listen == .network(host: "127.0.0.1", port: 1))
        let warning = try #require(settings.warnings.first)
        #expect(settings.warnings.count == 1)
        #expect(warning.contains(links.keys.sorted().joined(separator: ", ")))
        #expect(warning.contains("enableServiceLinks: false"))
        #expect(!warning.contains("10.0.0.1"))
    }

    @Test(arguments: [
        ("PORT_HTTP", "1"), ("PORT_8080", "1"), ("PORT_8080_TCP_X", "1"), ("SERVICE_HOSTS", "10.0.0.1"),
        ("PORT", "8080"), ("PORT", "https://10.0.0.1"), ("METRICS_PORT", "9090"), ("X_SERVICE_HOST", "a.example"),
        ("X_SERVICE_PORT", "http"), ("PORT_8080_TCP_PROTO", "udp"), ("PORT_8080_TCP_PORT", "80"),
        ("PORT_65536_TCP", "tcp://10.0.0.1:65536"), ("PORT_80_ICMP", "icmp://10.0.0.1:80"),
    ])
    func `what only resembles a variable of Kubernetes is refused`(name: String, value: String) throws {
        #expect(try fault(provider, ["ASSAY_\(name)": value]).message.hasPrefix("ASSAY_\(name) is not a setting"))
    }

    @Test func `a provider's id can't be overridden`() throws {
        #expect(
            try fault(provider, ["ASSAY_PROVIDERS_APPLE_ID": "b"]).message.hasPrefix(
                "ASSAY_PROVIDERS_APPLE_ID is not a setting"))
    }

    @Test func `nothing is said of the variables of a provider that can't be read`() throws {
        let yaml = "providers:\n  - { id: a, preset: facebook }\n"
        #expect(try fault(yaml, ["ASSAY_PROVIDERS_A_TENANT": "x"]).message.hasPrefix("preset must be one of"))
    }

    @Test func `the environment can give a provider what the file left out`() throws {
        let settings = try settings(
            "providers:\n  - { id: my-oidc, audiences: [a] }\n",
            ["ASSAY_PROVIDERS_MY_OIDC_ISSUER": "https://auth.example.com"])
        #expect(settings.providers[0].policy.issuer == "https://auth.example.com")
    }
}
