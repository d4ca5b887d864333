import NIOCore
@testable import SignIns
import Synchronization
import Testing
import TestSupport

/// What a server says about itself, and whether it is used.
@Suite struct ServerReportTests {
    /// What a server has to say.
    private struct Answers: Sendable {
        /// `nil`: `CONFIG` is forbidden.
        var policy: String?
        /// The fields of `INFO`, by section; without the section, it is forbidden.
        var information: [String: [String: String]] = [:]

        func answer(_ command: ScriptedServer.Command) -> ScriptedServer.Answer {
            func bulk(_ text: String) -> String { "$\(text.utf8.count)\r\n\(text)\r\n" }
            switch command.name {
            case "CONFIG":
                guard let policy else { return .error("NOPERM no") }
                return .bytes("*2\r\n" + bulk("maxmemory-policy") + bulk(policy))
            default:
                guard let fields = information[command.words[1]] else { return .error("NOPERM no") }
                let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)\r\n" }
                return .bytes(bulk("# Section\r\n" + lines.joined()))
            }
        }
    }

    /// Runs a store whose server says different things before and after a change.
    private func run(
        _ before: Answers, _ settings: (inout ValkeySettings) -> Void = { _ in },
        _ body: (StoreUnderTest, ScriptedServer, (Answers) -> Void) async throws -> Void
    ) async throws {
        let now = Mutex(before)
        try await ScriptedServer.run(report: .init { now.withLock(\.self).answer($0) }) { _ in
            .ok
        } _: { server async throws in
            try await StoreUnderTest.run(server, settings) { store async throws in
                try await body(store, server) { answers in now.withLock { $0 = answers } }
            }
        }
    }

    private static let reason =
        "maxmemory-policy is allkeys-lru: records can be evicted, and sign-ins then finished twice; set it to noeviction"

    @Test(arguments: [
        Answers(policy: "allkeys-lru"),
        Answers(information: ["memory": ["maxmemory_policy": "allkeys-lru"]]),
    ])
    private func `a server that evicts is refused until it no longer does`(answers: Answers) async throws {
        try await run(answers) { store, server, change in
            #expect(try await store.health() == .evicting)
            #expect(try await store.claim() == .unavailable(mayBeClaimed: false))
            #expect(server.count("SET") == 0 && store.reported == [Self.reason])
            change(Answers(policy: "noeviction"))
            try await eventually { try await store.health() == .ok }
            #expect(try await store.claim() == .claimed)
            #expect(store.reported == [Self.reason, "reached again"] && store.unknownEvictions == 0)
        }
    }

    @Test(arguments: ["volatile-lru", "allkeys-random", "volatile-ttl", "something-new"])
    func `any policy but noeviction evicts`(policy: String) {
        #expect(ServerReport(evictionPolicy: policy).failure(allowingEviction: false)?.health == .evicting)
        #expect(ServerReport(evictionPolicy: policy).failure(allowingEviction: true) == nil)
        #expect(ServerReport(evictionPolicy: "noeviction").failure(allowingEviction: false) == nil)
    }

    @Test func `an evicting server is used if the settings allow it`() async throws {
        try await run(Answers(policy: "allkeys-lru"), { $0.allowsEviction = true }) { store, _, _ in
            let outcome = try await store.claim()
            #expect(outcome == .claimed && store.reported == [])
        }
    }

    @Test func `a server is asked again, and left once it evicts`() async throws {
        try await run(Answers(policy: "noeviction"), { $0.reportInterval = .milliseconds(5) }) { store, _, change in
            #expect(try await store.claim() == .claimed)
            change(Answers(policy: "allkeys-lru"))
            try await eventually { try await store.health() == .evicting }
            #expect(try await store.claim() == .unavailable(mayBeClaimed: false))
        }
    }

    @Test func `a replica is refused until it is promoted`() async throws {
        let replica = Answers(policy: "noeviction", information: ["replication": ["role": "slave"]])
        try await run(replica) { store, server, change in
            #expect(try await store.health() == .readOnly)
            #expect(try await store.claim() == .unavailable(mayBeClaimed: false))
            #expect(
                server.count("SET") == 0
                    && store.reported == ["connected to a replica; set sign_ins.store.url to the primary"])
            change(Answers(policy: "noeviction", information: ["replication": ["role": "master"]]))
            try await eventually { try await store.health() == .ok }
        }
    }

    @Test func `a replica of a cluster redirects, so it is used`() async throws {
        let information = ["replication": ["role": "slave"], "cluster": ["cluster_enabled": "1"]]
        try await run(Answers(policy: "noeviction", information: information)) { store, _, _ in
            let health = try await store.health()
            #expect(health == .ok)
        }
    }

    @Test func `a server that says nothing is used, with one warning`() async throws {
        try await run(Answers(), { $0.reportInterval = .milliseconds(5) }) { store, server, _ in
            #expect(try await store.claim() == .claimed)
            try await eventually { server.count("CONFIG") > 3 }
            #expect(store.unknownEvictions == 1 && store.reported == [])
        }
    }

    @Test(arguments: [("200", 0.5), ("0", nil), ("50", 1), ("junk", nil)])
    func `a server says how much of its memory is in use`(limit: String, fill: Double?) async throws {
        let memory = ["maxmemory": limit, "used_memory": "100", "maxmemory_policy": "noeviction"]
        try await run(Answers(information: ["memory": memory])) { store, _, _ in
            let status = try await store.status()
            #expect(status == StoreStatus(health: .ok, entries: nil, fill: fill))
        }
    }
}
