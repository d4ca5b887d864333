import HTTP
import IDToken
import NIOCore
import NIOPosix
@testable import SignIns
import Synchronization
import TestSupport
@testable import Verification

/// A ``ValkeyStore`` on its own event loop.
struct StoreUnderTest: Sendable {
    private let store: NIOLoopBound<ValkeyStore>
    private let loop: any EventLoop
    private let reports: Reports

    private final class Reports: Sendable {
        let all = Mutex<[String]>([])
        let unknownEvictions = Mutex(0)
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
        let monitor = StoreMonitor { address, news in
            switch news {
            case .failed(let failure): reports.all.withLock { $0.append(failure.reason) }
            case .recovered: reports.all.withLock { $0.append("reached again") }
            case .unknownEviction: reports.unknownEvictions.withLock { $0 += 1 }
            }
        }
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

    var unknownEvictions: Int { reports.unknownEvictions.withLock(\.self) }

    func status() async throws -> StoreStatus { try await loop.submit { store.value.status(now: now) }.get() }
    func health() async throws -> StoreHealth { try await status().health }
    func waitUntilReachable() async throws { try await eventually { try await health() != .unreachable } }
    func end() async throws { try await loop.submit { store.value.end() }.get() }

    func claim(_ number: UInt64 = 1) async throws -> ClaimOutcome { try await claims([number])[0] }

    /// Prepares a claim, but does not make it.
    func prepareWithoutBeginning() async throws {
        try await loop.submit {
            _ = store.value.claim(claim(of: 1), sharedBy: 1, now: now)
        }.get()
    }

    /// Prepares a claim, and makes it after the store has ended.
    func claimAfterEnd() async throws -> ClaimOutcome {
        try await loop.flatSubmit {
            let claim = store.value.claim(claim(of: 1), sharedBy: 1, now: now)
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

    func release(_ number: UInt64 = 1, after use: ReleasedUse = .none) async throws -> Bool {
        try await loop.flatSubmit { store.value.release(claim(of: number), after: use, on: loop) }.get()
    }

    private func claim(of number: UInt64) -> Claim {
        Claim(key: ClaimKey(high: 0, low: number), end: ClaimEnd(after: 600), provider: "p")
    }

    private func begin(_ number: UInt64) -> EventLoopFuture<ClaimOutcome> {
        outcome(of: store.value.claim(claim(of: number), sharedBy: 1, now: now))
    }

    private func outcome(of claim: ClaimReply) -> EventLoopFuture<ClaimOutcome> {
        switch claim {
        case .now(let outcome): loop.makeSucceededFuture(outcome)
        case .later(let begin): begin()
        }
    }

    private var now: VerificationTime {
        VerificationTime(monotonic: MonotonicTime(milliseconds: 0), wall: UnixTime(seconds: 0))
    }
}
