import Host
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

@testable import ReplayStore

/// A ``ValkeyStore`` on its own event loop.
struct StoreUnderTest: Sendable {
    private let store: NIOLoopBound<ValkeyStore>
    private let loop: any EventLoop
    private let reports: Reports

    private final class Reports: Sendable {
        let all = Mutex<[String]>([])
    }

    static func run<Value>(
        _ address: StoreAddress, _ change: (inout ValkeySettings) -> Void = { _ in },
        _ body: (StoreUnderTest) async throws -> Value
    ) async throws -> Value {
        var settings = ValkeySettings(address: address)
        // Long enough for a busy machine. Tests that need a timeout set a shorter one.
        settings.timeout = .seconds(60)
        settings.greetingTimeout = .seconds(60)
        settings.settledAfter = .hours(1)
        change(&settings)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let reports = Reports()
        let monitor = StoreMonitor { address, reason in reports.all.withLock { $0.append(reason ?? "reached again") } }
        let store = try await loop.submit { [settings] in
            NIOLoopBound(ValkeyStore(settings, on: loop, monitor), eventLoop: loop)
        }.get()
        let underTest = StoreUnderTest(store: store, loop: loop, reports: reports)
        do {
            let value = try await body(underTest)
            try await underTest.end()
            return value
        } catch {
            try await underTest.end()
            throw error
        }
    }

    static func run<Value>(
        _ server: ScriptedServer, _ change: (inout ValkeySettings) -> Void = { _ in },
        _ body: (StoreUnderTest) async throws -> Value
    ) async throws -> Value {
        try await run(.network(host: "127.0.0.1", port: server.port), change) { store in
            try await store.waitUntilReachable()
            return try await body(store)
        }
    }

    /// Reports of unreachable servers, in order.
    var reported: [String] { reports.all.withLock { $0 } }

    func health() async throws -> StoreHealth { try await loop.submit { store.value.status(now: now).health }.get() }
    func waitUntilReachable() async throws { try await eventually { try await health() != .unreachable } }
    func end() async throws { try await loop.submit { store.value.end() }.get() }

    func claim(_ number: UInt64 = 1) async throws -> ClaimOutcome { try await claims([number])[0] }

    /// Prepares a claim, but does not make it.
    func prepareWithoutBeginning() async throws {
        try await loop.submit {
            _ = store.value.claim(ClaimKey(high: 0, low: 1), until: ClaimEnd(after: 600), now: now)
        }.get()
    }

    /// Prepares a claim, and makes it after the store has ended.
    func claimAfterEnd() async throws -> ClaimOutcome {
        try await loop.flatSubmit {
            let claim = store.value.claim(ClaimKey(high: 0, low: 1), until: ClaimEnd(after: 600), now: now)
            store.value.end()
            return outcome(of: claim)
        }.get()
    }

    /// Claims in one turn of the event loop.
    func claims(_ numbers: [UInt64]) async throws -> [ClaimOutcome] {
        try await loop.flatSubmit { EventLoopFuture.whenAllSucceed(numbers.map(begin), on: loop) }.get()
    }

    /// Starts claims, and collects their outcomes in order of arrival.
    func collect(_ numbers: [UInt64]) async throws -> Outcomes {
        let outcomes = Outcomes()
        try await loop.submit {
            for number in numbers {
                begin(number).whenSuccess { outcome in outcomes.all.withLock { $0.append(outcome) } }
            }
        }.get()
        return outcomes
    }

    final class Outcomes: Sendable {
        fileprivate let all = Mutex<[ClaimOutcome]>([])
        var soFar: [ClaimOutcome] { all.withLock(\.self) }
    }

    func release(_ number: UInt64 = 1) async throws -> Bool {
        try await loop.flatSubmit { store.value.release(ClaimKey(high: 0, low: number), on: loop) }.get()
    }

    private func begin(_ number: UInt64) -> EventLoopFuture<ClaimOutcome> {
        outcome(of: store.value.claim(ClaimKey(high: 0, low: number), until: ClaimEnd(after: 600), now: now))
    }

    private func outcome(of claim: ClaimReply) -> EventLoopFuture<ClaimOutcome> {
        switch claim {
        case .now(let outcome): loop.makeSucceededFuture(outcome)
        case .later(let begin): begin()
        }
    }

    private var now: StoreTime { StoreTime(monotonic: MonotonicTime(milliseconds: 0), unixSeconds: 0) }
}
