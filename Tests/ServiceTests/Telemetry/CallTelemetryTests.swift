import HTTP
import JOSE
import Keys
@testable import OAuth
@testable import Service
import Synchronization
import Testing
import TestSupport

@Suite struct CallTelemetryTests {
    private static func report(
        _ failure: CallFailure?, _ endpoint: CallEndpoint = .token, client: String = "c",
        _ connection: CallReport.ConnectionUse = .opened, reason: String? = nil, description: String? = nil
    ) throws -> CallReport {
        CallReport(
            endpoint: endpoint, clientID: client,
            address: try FetchURL("https://a.example/token", allowingHTTP: false), startedAtUnixNanoseconds: 0,
            nanoseconds: 7_000_000, connection: connection, status: failure == nil ? 200 : nil, failure: failure,
            reason: reason, providerDescription: description)
    }

    private static func telemetry(
        _ sink: LogSink, monotonic: @escaping @Sendable () -> MonotonicTime = { MonotonicTime(milliseconds: 0) }
    ) -> CallTelemetry {
        let log = Log(
            to: sink, from: .debug, unixMilliseconds: { 1_700_000_000_000 },
            monotonic: { MonotonicTime(milliseconds: 0) })
        return CallTelemetry(log: log, monotonic: monotonic)
    }

    @Test func `calls are counted by outcome, and their connections by use`() throws {
        let telemetry = Self.telemetry(LogSink(isDiscarding: true))
        telemetry.record(try Self.report(nil), provider: "p")
        telemetry.record(try Self.report(nil, .token, .reused), provider: "p")
        telemetry.record(try Self.report(.notSent(.unreachable), .revocation, .failed), provider: "p")
        telemetry.record(try Self.report(nil), provider: "q")
        let counts = telemetry.current
        #expect(
            counts.calls == [
                .init(provider: "p", endpoint: .token, outcome: .ok): 2,
                .init(provider: "p", endpoint: .revocation, outcome: .unreachable): 1,
                .init(provider: "q", endpoint: .token, outcome: .ok): 1,
            ])
        #expect(
            counts.connections == [
                .init(provider: "p", use: .opened): 1, .init(provider: "p", use: .reused): 1,
                .init(provider: "p", use: .failed): 1, .init(provider: "q", use: .opened): 1,
            ])
        #expect(counts.durations[.token]?.count == 3)
        #expect(counts.durations[.token]?.sumMicroseconds == 21_000)
        // Between 5 and 10 ms.
        #expect(counts.durations[.token]?.buckets[1] == 3)
    }

    @Test(arguments: [
        (CallFailure?.none, CallOutcome.ok), (.notSent(.unreachable), .unreachable), (.notSent(.timeout), .timeout),
        (.notSent(.credential), .unreachable), (.unavailable(.timeout), .timeout),
        (.unavailable(.broken), .unavailable), (.unavailable(.status(500)), .unavailable),
        (.grantInvalid(.invalidGrant), .grantInvalid), (.clientRejected(.invalidClient), .clientRejected),
        (.refused(.other), .providerRefused), (.answerInvalid(.notJSON), .answerInvalid),
    ])
    func `each failure has an outcome`(failure: CallFailure?, outcome: CallOutcome) throws {
        #expect(try Self.report(failure).outcome == outcome)
    }

    @Test func `an outage is two lines, a refused client one in ten minutes`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let now = Mutex(MonotonicTime(milliseconds: 0))
                func record(_ failure: CallFailure?, client: String = "c", at seconds: Int64) throws {
                    now.withLock { $0 = MonotonicTime(milliseconds: seconds * 1000) }
                    telemetry.record(try CallTelemetryTests.report(failure, client: client), provider: "p")
                }
                let telemetry = CallTelemetryTests.telemetry(sink, monotonic: { now.withLock { $0 } })
                for _ in 0..<3 { try record(.unavailable(.status(500)), at: 0) }
                try record(.grantInvalid(.invalidGrant), at: 1)
                try record(nil, at: 1)
                for seconds in [2, 3, 601, 602, 1300] {
                    try record(.clientRejected(.invalidClient), at: Int64(seconds))
                }
                try record(nil, client: "d", at: 1301)
                try record(.clientRejected(.unauthorizedClient), at: 1302)
                try record(nil, at: 1303)
                try record(.clientRejected(.unauthorizedClient), at: 1304)
                await sink.close()
            })
        let lines = try result.standardErrorContent.split(separator: UInt8(ascii: "\n")).map { line in
            try #require(try JSONTree(readingObject: Array(line)).object)
        }
        #expect(
            lines.map { $0["message"]?.string } == [
                "provider calls fail", "provider calls succeed again", "provider rejects the client",
                "provider rejects the client", "provider rejects the client", "provider rejects the client",
            ])
        #expect(lines.map { $0["level"]?.string } == ["warning", "info", "error", "error", "error", "error"])
        #expect(lines.first?["outcome"] == .string("unavailable"))
        #expect(lines.last?["provider_error"] == .string("unauthorized_client"))
        #expect(lines.last?["client"] == .string("c"))
    }

    @Test func `each cause of an outage is told once, in the provider's own words too`() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
                let sink = LogSink()
                let telemetry = CallTelemetryTests.telemetry(sink)
                func record(_ failure: CallFailure?, _ reason: String? = nil, _ description: String? = nil) throws {
                    telemetry.record(
                        try CallTelemetryTests.report(failure, reason: reason, description: description), provider: "p")
                }
                for _ in 0..<2 {
                    try record(.notSent(.unreachable), "refused")
                    try record(.answerInvalid(.member(.tokenType)), "no type", "it is gone")
                    try record(.answerInvalid(.member(.idToken)), "no token")
                }
                // The number is bounded.
                for number in 0..<50 { try record(.notSent(.unreachable), "\(number)") }
                try record(nil)
                try record(.clientRejected(.invalidClient), nil, "the secret is over")
                await sink.close()
            })
        let lines = try result.standardErrorContent.split(separator: UInt8(ascii: "\n")).map { line in
            try #require(try JSONTree(readingObject: Array(line)).object)
        }
        #expect(lines.prefix(4).map { $0["reason"]?.string } == ["refused", "no type", "no token", "0"])
        #expect(
            lines.map { $0["provider_description"]?.string }.compactMap(\.self) == ["it is gone", "the secret is over"])
        #expect(lines.count == 16 + 2)
    }
}
