import NIOCore
import NIOSSL
import OpenSSL
@testable import SignIns
import Synchronization
import Testing
import TestSupport

@Suite struct ValkeyStoreTests {
    @Test func `the first claim wins, and another fails`() async throws {
        let claimed = Mutex<Set<String>>([])
        try await ScriptedServer.run { command in
            guard command.name == "SET" else { return .ok }
            return claimed.withLock { $0.insert(command.words[1]).inserted } ? .ok : .null
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                #expect(try await store.claims([1, 2, 1]) == [.claimed, .claimed, .alreadyClaimed])
                let words = try #require(server.commands.first { $0.name == "SET" }).words
                #expect(words[1] == "assay:" + ClaimKey(high: 0, low: 1).digits)
                #expect(words[2].unicodeScalars.count == 16 && words[3...].elementsEqual(["NX", "PX", "900000"]))
                #expect(try await store.health() == .ok && store.reported == [])
            }
        }
    }

    @Test func `nothing is sent before a claim is begun`() async throws {
        try await ScriptedServer.run { _ in
            .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                try await store.prepareWithoutBeginning()
                #expect(try await store.claim(2) == .claimed)
                #expect(server.count("SET") == 1)
            }
        }
    }

    @Test func `without a connection, nothing is claimed or given back`() async throws {
        try await ScriptedServer.run { _ in
            .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                #expect(try await store.claimAfterEnd() == .unavailable(mayBeClaimed: false))
                #expect(try await !store.release())
                #expect(server.count("SET") == 0 && server.count("DEL") == 0)
            }
        }
    }

    // MARK: Errors and replies

    @Test(arguments: [
        "OOM", "MISCONF", "NOREPLICAS", "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOAUTH", "NOPERM",
        "READONLY",
    ])
    func `an error that says that nothing was done leaves the claim unmade`(word: String) async throws {
        #expect(try await outcome(of: .error("\(word) for a reason")) == .unavailable(mayBeClaimed: false))
    }

    @Test(arguments: [
        "-ERR unknown\r\n", "-OOMPH\r\n", "-\r\n", "-MOVED x y\r\n", ":1\r\n", "$2\r\nOK\r\n", "+OKAY\r\n",
        "+QUEUED\r\n",
    ])
    func `any other leaves it open`(reply: String) async throws {
        #expect(try await outcome(of: .bytes(reply)) == .unavailable(mayBeClaimed: true))
    }

    private func outcome(of answer: ScriptedServer.Answer) async throws -> ClaimOutcome {
        try await ScriptedServer.run {
            $0.name == "SET" ? answer : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { try await $0.claim() }
        }
    }

    @Test func `a store without room says so until it has some`() async throws {
        let isFull = Mutex(true)
        try await ScriptedServer.run { command in
            command.name == "SET" && isFull.withLock(\.self) ? .error("OOM command not allowed") : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                _ = try await store.claim()
                #expect(try await store.health() == .full)
                isFull.withLock { $0 = false }
                #expect(try await store.claim() == .claimed)
                #expect(try await store.health() == .ok)
            }
        }
    }

    // MARK: Connections

    @Test(arguments: ["+PONGS\r\n", "+OK \r\n", "$4\r\nPONG\r\n", ":1\r\n"])
    func `only PONG answers a greeting`(reply: String) async throws {
        try await ScriptedServer.run { _ in
            .bytes(reply)
        } _: { server async throws in
            try await StoreUnderTest.run(.network(host: "127.0.0.1", port: server.port)) { store async throws in
                try await eventually { server.connections >= 2 }
                #expect(try await store.health() == .unreachable)
                #expect(store.reported == ["the replies are not those of Valkey or Redis"])
            }
        }
    }

    @Test func `a refused password fails, and is not retried constantly`() async throws {
        let begun = ContinuousClock.now
        try await ScriptedServer.run {
            $0.name == "AUTH" ? .error("WRONGPASS no") : .ok
        } _: { server async throws in
            let settings: (inout ValkeySettings) -> Void = {
                let password = try? SecretBytes([1, 2, 3].span)
                $0.password = { password }
            }
            try await StoreUnderTest.run(.network(host: "127.0.0.1", port: server.port), settings) {
                store async throws in
                try await eventually { server.connections >= 4 }
                #expect(try await store.health() == .unreachable)
                #expect(store.reported == ["the store refused: WRONGPASS"])
            }
        }
        #expect(ContinuousClock.now - begun >= .milliseconds(50 + 100 + 200))
    }

    @Test func `a connection that ends early is opened less and less often`() async throws {
        let begun = ContinuousClock.now
        try await ScriptedServer.run {
            $0.name == "SET" ? .close : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                for count in 1...3 {
                    try await store.waitUntilReachable()
                    // Claims don't wait for the next connection.
                    #expect(try await store.claim() == .unavailable(mayBeClaimed: true))
                    #expect(server.count("SET") == count)
                }
                try await store.waitUntilReachable()
                #expect(store.reported.filter { $0 == "the connection was closed" }.count == 3)
            }
        }
        #expect(ContinuousClock.now - begun >= .milliseconds(50 + 100 + 200))
    }

    @Test func `a claim that is not answered in time is left open, and its connection ended`() async throws {
        try await ScriptedServer.run {
            $0.connection == 1 && $0.name == "SET" ? .silence : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) {
                $0.timeout = .milliseconds(50)
            } _: { store async throws in
                #expect(try await store.claim() == .unavailable(mayBeClaimed: true))
                try await eventually { store.reported.first == "no reply within the timeout" }
                try await store.waitUntilReachable()
                #expect(server.connections == 2)
            }
        }
    }

    @Test func `a connection that has ended answers no claim of the next, over TLS as well`() async throws {
        let certificate = try Certificate()
        let context = try NIOSSLContext(configuration: certificate.client)
        try await ScriptedServer.run(tls: certificate.server) { command in
            switch (command.connection, command.name) {
            case (1, "SET"): .freeze
            case (_, "SET"): .silence
            default: .ok
            }
        } _: { server async throws in
            try await StoreUnderTest.run(server) {
                $0.tls = { context }
                $0.timeout = .milliseconds(500)
            } _: { store async throws in
                #expect(try await store.claim() == .unavailable(mayBeClaimed: true))
                try await store.waitUntilReachable()
                // The store does not wait for the peer's close.
                async let outcome = store.claim(2)
                try await eventually { server.count("SET") == 2 }
                try? await server.send("+OK\r\n", to: 1)
                #expect(try await outcome == .unavailable(mayBeClaimed: true))
            }
        }
    }

    @Test func `the log names what is wrong with TLS`() async throws {
        let certificate = try Certificate()
        try await ScriptedServer.run(tls: certificate.server) { _ in
            .ok
        } _: { server async throws in
            var client = certificate.client
            client.trustRoots = .certificates([])
            let context = try NIOSSLContext(configuration: client)
            try await StoreUnderTest.run(.network(host: "localhost", port: server.port)) {
                $0.tls = { context }
            } _: { store async throws in
                try await eventually { !store.reported.isEmpty }
                #expect(store.reported == ["TLS: the store's certificate is not trusted, or not valid now"])
            }
        }
    }

    // MARK: Replicas

    @Test func `one WAIT covers all claims before it`() async throws {
        try await ScriptedServer.run {
            $0.name == "WAIT" ? .bytes(":1\r\n") : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) {
                $0.replicas = 1
            } _: { store async throws in
                #expect(try await store.claims(Array(1...100)) == Array(repeating: .claimed, count: 100))
                // The server may answer the first commands before it has read the last.
                #expect(server.count("SET") == 100 && server.count("WAIT") < 10)
            }
        }
    }

    @Test func `too few replicas leave a claim open, and keep the connection`() async throws {
        try await ScriptedServer.run {
            $0.name == "WAIT" ? .bytes(":1\r\n") : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) {
                $0.replicas = 2
            } _: { store async throws in
                #expect(try await store.claims([1, 2]) == Array(repeating: .unavailable(mayBeClaimed: true), count: 2))
                #expect(server.connections == 1 && store.reported == [])
                let wait = try #require(server.commands.first { $0.name == "WAIT" })
                // Two of them fit into the timeout of a claim.
                #expect(wait.words == ["WAIT", "2", "24000"])
            }
        }
    }

    @Test func `a WAIT that takes its time does not end the connection`() async throws {
        try await ScriptedServer.run {
            $0.name == "WAIT" ? .silence : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) {
                $0.replicas = 1
            } _: { store async throws in
                async let waiting = store.claim(1)
                try await eventually { server.count("WAIT") == 1 }
                // A server that waits replies when the command's timeout has passed.
                try await server.send(":0\r\n", to: 1)
                #expect(try await waiting == .unavailable(mayBeClaimed: true))
                #expect(server.connections == 1 && store.reported == [])
            }
            // If it takes longer, the server is considered down.
            try await StoreUnderTest.run(server) {
                $0.replicas = 1
                $0.timeout = .milliseconds(100)
            } _: { store async throws in
                try await eventually {
                    _ = try await store.claim()
                    return store.reported.first == "no reply within the timeout"
                }
            }
        }
    }

    @Test func `a node that became a replica answers what was sent, and is left`() async throws {
        try await ScriptedServer.run { command in
            guard command.name == "SET", command.connection == 1 else { return .ok }
            return command.words[1].hasSuffix("1") ? .error("READONLY You can't write") : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                #expect(
                    try await store.claims([2, 1, 3]) == [.claimed, .unavailable(mayBeClaimed: false), .claimed])
                try await eventually {
                    store.reported.first == "connected to a replica; set sign_ins.store.url to the primary"
                }
                try await eventually { try await store.health() == .ok }
                #expect(try await store.claim(1) == .claimed)
                #expect(server.connections == 2)
            }
        }
    }

    // MARK: Retried claims

    @Test func `a claim whose connection broke is sent once more, and found to be its own`() async throws {
        let value = Mutex("")
        try await ScriptedServer.run { command in
            switch (command.connection, command.name) {
            case (1, "SET"):
                value.withLock { $0 = command.words[2] }
                return .close
            default: return .ok
            }
        } _: { other async throws in
            // The other node of the cluster is tried first; the node that closed its connection has the key.
            try await ScriptedServer.run { command in
                switch command.name {
                case "SET" where other.count("SET") == 0: return .error("MOVED 1 127.0.0.1:\(other.port)")
                case "SET": return .null
                case "GET": return value.withLock { .bytes("$\($0.unicodeScalars.count)\r\n\($0)\r\n") }
                default: return .ok
                }
            } _: { home async throws in
                try await StoreUnderTest.run(home) { store async throws in
                    #expect(try await store.claim() == .claimed)
                    #expect(home.count("SET") == 2 && other.count("SET") == 1)
                }
            }
        }
    }

    // MARK: Cluster

    @Test func `a redirection to a node that is down is refused at once, and unmade`() async throws {
        let closed = try await ScriptedServer.run { _ in
            .ok
        } _: {
            $0.port
        }
        try await ScriptedServer.run {
            $0.name == "SET" ? .error("MOVED 1 127.0.0.1:\(closed)") : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                let outcomes = try await store.claims(Array(1...2000))
                #expect(outcomes.allSatisfy { $0 == .unavailable(mayBeClaimed: false) })
                #expect(try await store.health() == .ok)
                // Reports are not per claim. On a busy machine, the node may be tried again before the last claim.
                #expect((1..<20).contains(store.reported.count))
                // Its slots are forgotten, so the first node is asked again.
                let asked = server.count("SET")
                _ = try await store.claim(1)
                #expect(server.count("SET") == asked + 1)
            }
        }
    }

    @Test func `claims that wait for a node are bounded`() async throws {
        try await ScriptedServer.run { _ in
            .silence
        } _: { silent async throws in
            try await ScriptedServer.run {
                $0.name == "SET" ? .error("MOVED 1 127.0.0.1:\(silent.port)") : .ok
            } _: { server async throws in
                try await StoreUnderTest.run(server) { store async throws in
                    let outcomes = try await store.collect(Array(1...3000))
                    try await eventually { outcomes.soFar.count >= 3000 - 1024 }
                    try await store.end()
                    try await eventually { outcomes.soFar.count == 3000 }
                    #expect(outcomes.soFar.allSatisfy { $0 == .unavailable(mayBeClaimed: false) })
                }
            }
        }
    }

    @Test func `a redirection is followed, and remembered for its slot`() async throws {
        try await ScriptedServer.run { _ in
            .ok
        } _: { other async throws in
            let slot = KeySlot.slot(of: Array(("assay:" + ClaimKey(high: 0, low: 1).digits).utf8))
            try await ScriptedServer.run { command in
                command.name == "SET" ? .error("MOVED \(slot) 127.0.0.1:\(other.port)") : .ok
            } _: { home async throws in
                try await StoreUnderTest.run(home) { store async throws in
                    #expect(try await store.claim(1) == .claimed)
                    #expect(try await store.claim(1) == .claimed)
                    #expect(home.count("SET") == 1 && other.count("SET") == 2)
                }
            }
        }
    }

    @Test(arguments: [("DEL", true), ("", false)])
    func `a claim is given back by one DEL, which follows a redirection`(word: String, isReleased: Bool) async throws {
        try await ScriptedServer.run { command in
            command.name == word ? .bytes(":1\r\n") : command.name == "DEL" ? .error("ERR no") : .ok
        } _: { other async throws in
            try await ScriptedServer.run { command in
                command.name == "DEL" ? .error("MOVED 1 127.0.0.1:\(other.port)") : .ok
            } _: { home async throws in
                try await StoreUnderTest.run(home) { store async throws in
                    #expect(try await store.release() == isReleased)
                    let words = try #require(other.commands.first { $0.name == "DEL" }).words
                    #expect(words == ["DEL", "assay:" + ClaimKey(high: 0, low: 1).digits])
                    #expect(home.count("DEL") == 1 && other.count("DEL") == 1)
                }
            }
        }
    }

    @Test func `the record of what was refused is kept for a minute`() async throws {
        try await ScriptedServer.run { _ in
            .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                #expect(try await store.release(after: .refused))
                let words = try #require(server.commands.first { $0.name == "SET" }).words
                #expect(words == ["SET", "assay:" + ClaimKey(high: 0, low: 1).digits, "refused", "XX", "PX", "60000"])
                #expect(server.count("DEL") == 0)
            }
        }
    }

    @Test func `a release whose connection breaks is unconfirmed, and not sent again`() async throws {
        try await ScriptedServer.run { command in
            command.name == "DEL" ? .close : .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server) { store async throws in
                #expect(try await store.release() == false)
                #expect(server.count("DEL") == 1)
            }
        }
    }

    @Test func `a moving slot is asked for at its new node, with ASKING`() async throws {
        try await ScriptedServer.run { _ in
            .ok
        } _: { other async throws in
            try await ScriptedServer.run { command in
                command.name == "SET" ? .error("ASK 1 127.0.0.1:\(other.port)") : .ok
            } _: { home async throws in
                try await StoreUnderTest.run(home) { store async throws in
                    #expect(try await store.claims([1, 2]) == [.claimed, .claimed])
                    #expect(other.commands.map(\.name).suffix(4) == ["ASKING", "SET", "ASKING", "SET"])
                }
            }
        }
    }

    @Test func `nodes that send claims round are left after a few`() async throws {
        let ports = Mutex<[Int]>([])
        let answer: @Sendable (ScriptedServer.Command, Int) -> ScriptedServer.Answer = { command, next in
            command.name == "SET" ? .error("MOVED 1 127.0.0.1:\(ports.withLock { $0[next] })") : .ok
        }
        try await ScriptedServer.run {
            answer($0, 1)
        } _: { one in
            try await ScriptedServer.run {
                answer($0, 0)
            } _: { two async throws in
                ports.withLock { $0 = [one.port, two.port] }
                try await StoreUnderTest.run(one) { store async throws in
                    #expect(try await store.claim() == .unavailable(mayBeClaimed: false))
                    #expect(one.count("SET") + two.count("SET") == 6)
                }
            }
        }
    }

    @Test func `the nodes of a cluster are bounded, and left when the last slot has moved`() async throws {
        let next = Mutex(0)
        try await ScriptedServer.run(host: "0.0.0.0") { _ in
            .ok
        } _: { others async throws in
            // Each slot is at its own node, with its own loopback address.
            try await ScriptedServer.run { command in
                guard command.name == "SET" else { return .ok }
                let number = next.withLock { next in
                    next += 1
                    return next
                }
                return .error("MOVED \(number % 200) 127.0.1.\(number % 250 + 1):\(others.port)")
            } _: { home async throws in
                try await StoreUnderTest.run(home) { store async throws in
                    for number in 1...100 { #expect(try await store.claim(UInt64(number)) == .claimed) }
                    try await eventually { others.openConnections == 64 }
                }
                // The same slot moves from one node to the next.
                next.withLock { $0 = 0 }
                try await StoreUnderTest.run(home) { store async throws in
                    for number in 1...3 {
                        #expect(try await store.claim(UInt64(number)) == .claimed)
                        next.withLock { $0 += 199 }
                    }
                    try await eventually { others.openConnections == 1 }
                }
            }
        }
    }

    @Test func `without the first node, others that have slots are asked`() async throws {
        try await ScriptedServer.run { _ in
            .ok
        } _: { other async throws in
            try await ScriptedServer.run { command in
                switch command.name {
                case "SET" where command.words[1].hasSuffix("2"): .close
                case "SET": .error("MOVED 1 127.0.0.1:\(other.port)")
                case "PING" where command.connection > 1: .error("LOADING")
                default: .ok
                }
            } _: { home async throws in
                try await StoreUnderTest.run(home) { store async throws in
                    #expect(try await store.claim(1) == .claimed)
                    #expect(try await store.claim(2) == .claimed)
                    #expect(try await store.health() == .ok)
                    #expect(try await store.claim(3) == .claimed)
                }
            }
        }
    }
}

/// A self-signed certificate for `localhost`.
private struct Certificate {
    let server: TLSConfiguration
    let client: TLSConfiguration
    // ECDSA P-256, made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500`.
    private static let text = """
        -----BEGIN CERTIFICATE-----
        MIIBmzCCAUGgAwIBAgIUT+5SnhNcb4iXJfaJ2hG1rUh7VsAwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzE4MTU1M1oYDzIxMjYxMDMw
        MTgxNTUzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAT4kQ3NluEQIeJe+HWSZY7pROQQxoEh0yDaBk3l0v7nD6PTlAb6mkbv
        3uGFdx4N71TsY9T3NLfs500AvgoqKi3Zo28wbTAdBgNVHQ4EFgQUtJ8aXjkPgAZs
        tCpKM3qRwzc1KdUwHwYDVR0jBBgwFoAUtJ8aXjkPgAZstCpKM3qRwzc1KdUwDwYD
        VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
        zj0EAwIDSAAwRQIhAM9Gdfvg4Eu1r4VOvUb/zhswwLC9/VJ4uq0k0dn0Ic9LAiBF
        vjwIr/uFBZGI298FYnUqtGpkz85gw4f7yxOZ4dCzXw==
        -----END CERTIFICATE-----
        """
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgv5jsNaPGI/iyMik0
        emkx6M6RB+Qifal5l6bDEs1ewzmhRANCAAT4kQ3NluEQIeJe+HWSZY7pROQQxoEh
        0yDaBk3l0v7nD6PTlAb6mkbv3uGFdx4N71TsY9T3NLfs500AvgoqKi3Z
        -----END PRIVATE KEY-----
        """

    init() throws {
        let certificate = try NIOSSLCertificate(bytes: Array(Self.text.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(Self.key.utf8), format: .pem)
        server = .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .certificates([certificate])
        client.shutdownTimeout = .milliseconds(100)
        self.client = client
    }
}
