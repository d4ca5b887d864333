import OAuth
import Synchronization
import Testing

/// Sleeping advances this clock at once.
private final class SkippingClock: Clock, Sendable {
    private let time = Mutex(ContinuousClock.now)
    private let start: ContinuousClock.Instant

    init() { start = time.withLock { $0 } }

    var now: ContinuousClock.Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .zero }
    var elapsed: Duration { now - start }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        time.withLock { $0 = max($0, deadline) }
    }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}

/// A run against scripted answers.
private final class Run: Sendable {
    let clock = SkippingClock()
    private let state = Mutex(State())

    struct State {
        var tokens = 0
        var asked: [(subject: String, token: String)] = []
        var outcomes: [String: UserMigrationOutcome] = [:]
        var recorded = 0
    }

    var tokens: Int { state.withLock { $0.tokens } }
    var recorded: Int { state.withLock { $0.recorded } }
    var outcomes: [String: UserMigrationOutcome] { state.withLock { $0.outcomes } }
    func askedTokens(for subject: String) -> [String] {
        state.withLock { $0.asked.filter { $0.subject == subject }.map(\.token) }
    }

    /// - Parameters:
    ///   - answer: to a user's nth request, from 1.
    ///   - authorize: the answer to the nth request for a token, from 1; `nil` is a token named after the number.
    func run(
        _ subjects: [String], rate: Int = 10, lifetime: Duration = .seconds(3600),
        authorize: @escaping @Sendable (Int) -> CallFailure? = { _ in nil },
        record: @escaping @Sendable (Int) throws -> Void = { _ in },
        answer: @escaping @Sendable (_ subject: String, _ count: Int, _ token: String, SkippingClock) -> CallFailure?
    ) async throws {
        let migrations = UserMigrations(requestsPerSecond: rate, clock: clock) {
            let count = self.state.withLock { state in
                state.tokens += 1
                return state.tokens
            }
            if let failure = authorize(count) { return .failure(failure) }
            guard let token = AccessToken("t\(count)") else { return .failure(.notSent(.credential)) }
            return .success((token, lifetime))
        } migrate: { request, token in
            guard case .generate(let subject, _) = request else { return .failure(.notSent(.credential)) }
            let name = (1...9).first { AccessToken("t\($0)") == token }.map { "t\($0)" } ?? "?"
            let count = self.state.withLock { state in
                state.asked.append((subject, name))
                return state.asked.count { $0.subject == subject }
            }
            if let failure = answer(subject, count, name, self.clock) { return .failure(failure) }
            return .success(.transferSubject("new " + subject))
        }
        let requests = subjects.map { UserMigrationRequest.generate(subject: $0, recipientTeamID: "TEAM000001") }
        try await migrations.run(requests) { request, outcome in
            guard case .generate(let subject, _) = request else { return }
            let count = self.state.withLock { state in
                state.outcomes[subject] = outcome
                state.recorded += 1
                return state.recorded
            }
            try record(count)
        }
    }
}

private let unavailable = CallFailure.unavailable(.status(503))

@Suite struct UserMigrationsTests {
    @Test func `each user is asked about once, with one token`() async throws {
        let run = Run()
        let subjects = (1...200).map { "user \($0)" }
        try await run.run(subjects, rate: 10) { _, _, _, _ in nil }
        #expect(run.recorded == 200)
        #expect(run.outcomes["user 7"] == .done(.transferSubject("new user 7")))
        #expect(subjects.allSatisfy { run.askedTokens(for: $0) == ["t1"] })
        // 200 requests at 10 a second: the last one goes after 19.9 s.
        #expect(run.clock.elapsed >= .seconds(19.9))
        #expect(run.clock.elapsed < .seconds(21))
    }

    @Test func `nobody to ask about needs no token`() async throws {
        let run = Run()
        try await run.run([]) { _, _, _, _ in nil }
        #expect(run.tokens == 0)
    }

    @Test func `what may pass is tried again, and then recorded`() async throws {
        let run = Run()
        try await run.run(["a", "b", "c", "d"]) { subject, count, _, _ in
            switch subject {
            case "a": count < 4 ? unavailable : nil
            case "b": .unavailable(.timeout)
            case "c": .clientRejected(.invalidClient)
            default: nil
            }
        }
        #expect(run.outcomes["a"] == .done(.transferSubject("new a")))
        #expect(run.outcomes["b"] == .failed(.unavailable(.timeout)))
        #expect(run.outcomes["c"] == .failed(.clientRejected(.invalidClient)))
        #expect(run.outcomes["d"] == .done(.transferSubject("new d")))
        #expect(run.askedTokens(for: "b").count == 4)
    }

    @Test func `a refused user is not asked about again, and holds nobody up`() async throws {
        let run = Run()
        try await run.run(["a", "b"]) { subject, _, _, _ in subject == "a" ? .refused(.invalidRequest) : nil }
        #expect(run.outcomes["a"] == .refused(.invalidRequest))
        #expect(run.outcomes["b"] == .done(.transferSubject("new b")))
        #expect(run.askedTokens(for: "a").count == 1)
        #expect(run.clock.elapsed < .seconds(1))
    }

    @Test func `Retry-After holds everybody up`() async throws {
        let run = Run()
        try await run.run((1...100).map(String.init), rate: 1) { subject, count, _, _ in
            subject == "1" && count == 1 ? .unavailable(.status(429), retryAfterSeconds: 60) : nil
        }
        #expect(run.outcomes["1"] == .done(.transferSubject("new 1")))
        #expect(run.clock.elapsed >= .seconds(150))
    }

    @Test func `a token is renewed before it expires, and if Apple rejects it`() async throws {
        let expiring = Run()
        try await expiring.run(["a", "b"], rate: 1, lifetime: .seconds(1000)) { subject, count, _, clock in
            // The second user's turn comes much later.
            if count == 1 { clock.advance(by: .seconds(701)) }
            return count == 1 ? unavailable : nil
        }
        #expect(expiring.tokens >= 2)
        #expect(expiring.askedTokens(for: "a").last != "t1")
        let rejecting = Run()
        try await rejecting.run(["a", "b", "c"]) { _, _, token, _ in token == "t1" ? .refused(.invalidToken) : nil }
        #expect(rejecting.tokens == 2)
        #expect(rejecting.outcomes.values.allSatisfy { if case .done = $0 { true } else { false } })
    }

    @Test func `without a token nobody is asked about`() async throws {
        let rejected = Run()
        let failure = CallFailure.clientRejected(.invalidClient)
        await #expect(throws: UserMigrationUnauthorized(failure)) {
            try await rejected.run(["a"], authorize: { _ in failure }) { _, _, _, _ in nil }
        }
        #expect(rejected.tokens == 1)
        let passing = Run()
        try await passing.run(["a"], authorize: { $0 < 4 ? unavailable : nil }) { _, _, _, _ in nil }
        #expect(passing.recorded == 1)
        let lasting = Run()
        await #expect(throws: UserMigrationUnauthorized(unavailable)) {
            try await lasting.run(["a"], authorize: { _ in unavailable }) { _, _, _, _ in nil }
        }
        #expect(lasting.tokens == 4)
        #expect(lasting.recorded == 0)
    }

    @Test func `a result that can't be recorded ends the run`() async throws {
        struct Full: Error {}
        let run = Run()
        await #expect(throws: Full.self) {
            try await run.run((1...1000).map(String.init), record: { if $0 == 3 { throw Full() } }) { _, _, _, _ in nil
            }
        }
        #expect(run.recorded < 1000)
    }
}
