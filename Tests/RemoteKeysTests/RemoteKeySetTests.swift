import Foundation
import IDToken
import JOSE
import OpenSSL
import RemoteKeys
import ServiceLifecycleTestKit
import Synchronization
import Testing
import TestSupport

/// How long a verification waits for a fetch: longer than a busy machine takes for one from itself.
private let patience = Duration.seconds(100)

/// The keys of a provider that comes and goes.
@Suite(.timeLimit(.minutes(5))) struct RemoteKeySetTests {
    @Test func `the first verification fetches the keys, and later ones do not`() async throws {
        try await KeyServer.run { server in
            let (verifier, keys) = try server.verifier()
            #expect(keys.state == .unavailable && keys.current == nil)
            for _ in 0..<3 {
                #expect(
                    try await verifier.verify(server.token(), with: keys, waitingFor: patience).identity.subject
                        == "user")
            }
            #expect(server.paths == ["/.well-known/openid-configuration", "/keys"])
            #expect(keys.state == .ready && keys.current?.hasKey("p256") == true)
        }
    }

    @Test func `a rotated key is found at the first token that it signs`() async throws {
        try await KeyServer.run { server in
            let (verifier, keys) = try server.verifier()
            _ = try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            server.publish([.p256, .rsa])
            #expect(try await verifier.verify(server.token(by: .rsa), with: keys, waitingFor: patience).keyID == "rsa")
        }
    }

    @Test func `keys for development are skipped unless the options accept them`() async throws {
        try await KeyServer.run { server in
            let key = TestKey("assay-dev-1", "ES256", .ellipticCurve(.p256))
            server.publish([key])
            let (verifier, careful) = try server.verifier()
            await #expect(throws: KeysUnavailable.self) {
                try await verifier.verify(server.token(by: key), with: careful, waitingFor: patience)
            }
            var options = server.options
            options.acceptsDevelopmentKeys = true
            let (_, keys) = try server.verifier(options)
            #expect(
                try await verifier.verify(server.token(by: key), with: keys, waitingFor: patience).keyID == key.keyID)
        }
    }

    @Test func `forged tokens cause few fetches`() async throws {
        try await KeyServer.run { server in
            let (verifier, keys) = try server.verifier()
            _ = try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            for number in 0..<20 {
                let forger = TestKey("unknown-\(number)", "ES256", .ellipticCurve(.p256))
                await #expect(throws: Rejection.keyNotFound) {
                    try await verifier.verify(server.token(by: forger), with: keys, waitingFor: patience)
                }
            }
            #expect(server.paths.count(where: { $0 == "/keys" }) <= 3)
        }
    }

    @Test func `what is refused without keys is refused at once`() async throws {
        try await KeyServer.run { server in
            let (verifier, keys) = try server.verifier()
            await #expect(throws: Rejection.tokenExpired) {
                try await verifier.verify(server.token(), with: keys, now: UnixTime(seconds: 2_000_000_000_000))
            }
            await #expect(throws: Rejection.audienceMismatch) {
                try await verifier.verify(server.token(audience: "other"), with: keys, waitingFor: patience)
            }
            await #expect(throws: Rejection.tokenMalformed(.serialization)) {
                try await verifier.verify("junk", with: keys, waitingFor: patience)
            }
            #expect(server.paths == [])
        }
    }

    @Test func `during an outage, nobody can tell whether a token is valid`() async throws {
        try await KeyServer.run { server in
            server.publish(nil)
            let events = Mutex<[RemoteKeySet.Event]>([])
            let (verifier, keys) = try server.verifier { event in events.withLock { $0.append(event) } }
            let error = await #expect(throws: KeysUnavailable.self) {
                try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            }
            #expect(error.map { $0.retryAfter > .zero } == true)
            #expect(error.map { $0.description.hasSuffix("in 0 s") } == false)
            #expect(
                events.withLock { $0 }.contains { if case .fetchFailed(_, isFirst: true) = $0 { true } else { false } })
        }
    }

    /// A process that starts during an outage has the keys of the one before.
    @Test func `keys survive a restart on disk`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "assay-keys-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await KeyServer.run { server in
            var options = server.options
            options.cacheDirectory = directory.path()
            let (verifier, keys) = try server.verifier(options)
            _ = try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            try await eventually {
                try FileManager.default.contentsOfDirectory(atPath: directory.path()).contains { $0.hasSuffix(".keys") }
            }
            server.publish(nil)
            // Before the keys run as a service, or without.
            let (first, unstarted) = try server.verifier(options)
            #expect(
                try await first.verify(server.token(), with: unstarted, waitingFor: patience).identity.subject == "user"
            )
            let (next, restored) = try server.verifier(options)
            let run = Task { try await restored.run() }
            try await eventually { restored.state == .ready }
            #expect(
                try await next.verify(server.token(), with: restored, waitingFor: patience).identity.subject == "user")
            run.cancel()
            try await run.value
        }
    }

    @Test func `as a service, it has keys before the first token, and ends gracefully`() async throws {
        try await KeyServer.run { server in
            let (verifier, keys) = try server.verifier()
            try await testGracefulShutdown { trigger in
                async let run: Void = keys.run()
                try await eventually { keys.state == .ready }
                trigger.triggerGracefulShutdown()
                try await run
            }
            // The keys are still there, but nothing fetches others.
            _ = try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            server.publish([.rsa])
            await #expect(throws: KeysUnavailable.self) {
                try await verifier.verify(server.token(by: .rsa), with: keys, waitingFor: patience)
            }
        }
    }

    @Test func `private addresses are refused unless they are allowed`() async throws {
        try await KeyServer.run { server in
            var options = server.options
            options.allowedAddresses = []
            let (verifier, keys) = try server.verifier(options)
            await #expect(throws: KeysUnavailable.self) {
                try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            }
            #expect(server.paths == [])
        }
    }

    @Test func `nothing is fetched for a set that nobody has any more`() async throws {
        try await KeyServer.run { server in
            weak var released: RemoteKeySet?
            do {
                let (verifier, keys) = try server.verifier()
                released = keys
                _ = try await verifier.verify(server.token(), with: keys, waitingFor: patience)
            }
            try await eventually { released == nil }
        }
    }
}

/// Parameters that can't be used.
@Suite struct RemoteKeySetParameterTests {
    @Test func `presets say where the keys are`() throws {
        for preset in [ProviderPreset.apple, .google, .facebookLimitedLogin] { _ = try RemoteKeySet(of: preset) }
        _ = try RemoteKeySet(of: .firebase, arguments: ["project": "my-project"])
        _ = try RemoteKeySet(of: .auth0, arguments: ["domain": "example.eu.auth0.com"])
        _ = try RemoteKeySet(of: .keycloak, issuer: "https://keycloak.example/realms/main")
    }

    @Test func `a missing parameter of a preset is named`() {
        let error = #expect(throws: RemoteKeySetError.self) { try RemoteKeySet(of: .auth0) }
        #expect(error?.description.contains("domain") == true)
        #expect(throws: RemoteKeySetError.self) { try RemoteKeySet(of: .keycloak) }
    }

    @Test(arguments: ["http://op.example", "op.example", "https://op.example/#x", "https://{tenant}.example"])
    func `an address from which nothing can be fetched is refused`(issuer: String) {
        #expect(throws: RemoteKeySetError.self) { try RemoteKeySet(issuer: issuer) }
    }

    @Test(arguments: [
        ("http://op.example", "allowsHTTP"), ("op.example", "begins with https://"),
        ("https://op.example/#x", "fragment"),
    ])
    func `what to change in an address is said`(issuer: String, advice: String) {
        let error = #expect(throws: RemoteKeySetError.self) { try RemoteKeySet(issuer: issuer) }
        #expect(error?.description.contains(advice) == true)
    }

    @Test func `a wrong block or proxy is refused, and not repeated`() {
        for change: (inout RemoteKeySet.Options) -> Void in [
            { $0.allowedAddresses = ["s3cr3t/8"] }, { $0.environment = ["HTTPS_PROXY": "socks5://u:s3cr3t@proxy"] },
        ] {
            var options = RemoteKeySet.Options()
            change(&options)
            let error = #expect(throws: RemoteKeySetError.self) {
                try RemoteKeySet(issuer: "https://op.example", options: options)
            }
            #expect(error?.description.contains("s3cr3t") == false)
        }
    }
}

extension KeyServer {
    var options: RemoteKeySet.Options {
        var options = RemoteKeySet.Options()
        options.allowsHTTP = true
        options.allowedAddresses = ["127.0.0.1"]
        return options
    }

    func verifier(
        _ options: RemoteKeySet.Options? = nil, onEvent: @escaping @Sendable (RemoteKeySet.Event) -> Void = { _ in }
    ) throws -> (ProviderVerifier, RemoteKeySet) {
        (
            try ProviderVerifier(ProviderPolicy(id: "op", issuer: issuer, audiences: ["client"])),
            try RemoteKeySet(issuer: issuer, options: options ?? self.options, onEvent: onEvent)
        )
    }

    /// A token that is valid for an hour from now.
    func token(by key: TestKey = .p256, audience: String = "client") -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims = ClaimsText([
            "iss": "\"\(issuer)\"", "aud": "\"\(audience)\"", "sub": #""user""#, "iat": "\(now)",
            "exp": "\(now + 3600)",
        ])
        return compactJWS(payload: claims.json, signedBy: key)
    }
}
