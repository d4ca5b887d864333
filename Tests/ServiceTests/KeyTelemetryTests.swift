import HTTP
import JOSE
import Keys
import Service
import Testing
import TestSupport

/// Metrics and logs about keys.
@Suite struct KeyTelemetryTests {
    private func number(_ line: String?) -> Int? { line?.split(separator: " ").last.flatMap { Int($0) } }

    @Test func `where there are no keys there is a state and nothing else of them`() async throws {
        try await ServiceFixture.run { service async throws in
            #expect(
                try await service.metricLines("assay_keys_") == [
                    "assay_keys_state{provider=\"p\",state=\"ready\"} 0",
                    "assay_keys_state{provider=\"p\",state=\"stale\"} 0",
                    "assay_keys_state{provider=\"p\",state=\"unavailable\"} 1",
                ])
        }
    }

    @Test func `keys in use have a hash, and a time when they are fetched next`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys([.p256, .rsa])
            let all = try await service.send("GET", "/v1/providers", toAdmin: true).json["providers"]?.array
            let hash = try #require(all?.first?.object?["keys_hash"]?.integer)
            #expect(try await service.metricLines("assay_keys_hash") == ["assay_keys_hash{provider=\"p\"} \(hash)"])
            #expect(try await service.metricLines("assay_keys_omitted") == ["assay_keys_omitted{provider=\"p\"} 0"])
            #expect(try await service.metricLines("assay_keys_usable") == ["assay_keys_usable{provider=\"p\"} 2"])
            // From second 1: 75 to 90 per cent of five minutes, some of which may have passed.
            let next = try #require(number(try await service.metricLines("assay_keys_next_fetch").first))
            #expect((1...271).contains(next))
            // The order of the keys makes no difference.
            try await service.fetchKeys([.rsa, .p256])
            #expect(try await service.metricLines("assay_keys_hash") == ["assay_keys_hash{provider=\"p\"} \(hash)"])
        }
    }

    @Test func `while keys are fetched no time is set for it`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys()
            #expect(try await service.metricLines("assay_keys_next_fetch").count == 1)
            async let refreshed = service.send("POST", "/v1/providers/p/refresh", toAdmin: true)
            try await service.fetcher.called(2)
            #expect(try await service.metricLines("assay_keys_next_fetch") == [])
            await service.fetcher.answer(with: .success([.p256]))
            _ = try await refreshed
        }
    }

    @Test func `fetches for unknown kids are counted, those that were made and those that were not`() async throws {
        try await ServiceFixture.run { service async throws in
            try await service.fetchKeys([.p256, .otherP256])
            #expect(try await service.metricLines("assay_unknown_key_fetches") == [])
            await service.fetcher.answer(with: .success([.p256]))
            for (key, made, refused) in [(TestKey.rsa, 1, 0), (.ed25519, 2, 0), (.p384, 2, 1), (.p521, 2, 2)] {
                _ = try await service.verify(ServiceFixture.token(by: key))
                let lines = try await service.metricLines("assay_unknown_key_fetches")
                let expected =
                    (refused > 0 ? ["assay_unknown_key_fetches_refused_total{provider=\"p\"} \(refused)"] : [])
                    + ["assay_unknown_key_fetches_total{provider=\"p\"} \(made)"]
                #expect(lines == expected)
            }
            // Two full responses without the other key.
            #expect(try await service.metricLines("assay_keys_omitted") == ["assay_keys_omitted{provider=\"p\"} 0"])
        }
    }

    // MARK: Logs

    /// Runs in a process of its own, because standard error can be captured only from outside.
    @Test func `the log says what changes, with the level it deserves`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let telemetry = KeyTelemetry(
                    log: Log(
                        to: sink, from: .debug, unixMilliseconds: { 0 }, monotonic: { MonotonicTime(milliseconds: 0) }),
                    unixSeconds: { 0 })
                for state in KeyState.allCases { telemetry.record(.stateChanged(state), provider: "p") }
                telemetry.record(
                    .fallbackFailed(FetchFailure(.file, "there is no such file")), provider: "q")
                let failure = FetchFailure(.tls, "the server's certificate has expired")
                telemetry.record(.fetchFailed(failure, isFirst: true), provider: "p")
                // Repetitions are logged only at level `debug`.
                telemetry.record(.fetchFailed(failure, isFirst: false), provider: "p")
                for event in [KeyEvent.fetched, .tokenFetchBegan, .tokenFetchRefused] {
                    telemetry.record(event, provider: "p")
                }
                telemetry.record(.recovered, provider: "p")
                telemetry.record(.keysChanged(keyIDs: ["a", "b"]), provider: "p")
                await sink.close()
            })
        let lines = try result.standardErrorContent.split(separator: UInt8(ascii: "\n")).map { line in
            var members = try #require(try JSONTree(readingObject: Array(line)).object)
            members["time"] = nil
            return members
        }
        #expect(
            lines == [
                Self.line("info", "key state changed", "p", ["state": .string("ready")]),
                Self.line("warning", "key state changed", "p", ["state": .string("stale")]),
                Self.line("warning", "key state changed", "p", ["state": .string("unavailable")]),
                Self.line(
                    "warning", "fallback keys can't be read", "q", ["reason": .string("there is no such file")]),
                Self.line(
                    "warning", "keys can't be fetched", "p",
                    ["phase": .string("tls"), "reason": .string("the server's certificate has expired")]),
                Self.line(
                    "debug", "keys can't be fetched", "p",
                    ["phase": .string("tls"), "reason": .string("the server's certificate has expired")]),
                Self.line("info", "keys can be fetched again", "p"),
                Self.line("info", "keys changed", "p", ["named_keys": .integer(2)]),
            ])
    }

    private static func line(
        _ level: String, _ message: String, _ provider: String, _ more: [String: JSONTree] = [:]
    ) -> [String: JSONTree] {
        ["level": .string(level), "message": .string(message), "provider": .string(provider)].merging(more) { $1 }
    }
}
