import HTTP
import Keys
import NIOCore
import Synchronization
import Testing
import TestSupport

@Suite struct KeyStoreTests {
    private let fixture = KeyStoreFixture()
    private var fetcher: PatientFetcher { fixture.fetcher }
    private var events: KeyStoreFixture.Events { fixture.events }
    private var loop: any EventLoop { fixture.loop }

    @Test func `many who wait share one fetch`() async throws {
        let store = fixture.store()
        let waiting = (0..<50).map { _ in store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
        }
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        var outcomes: [Machine.Outcome] = []
        for outcome in waiting { outcomes.append(try await outcome.get()) }
        #expect(outcomes.first == .refreshed)
        #expect(outcomes.dropFirst().allSatisfy { $0 == .retry })
        #expect(await fetcher.calls == 1)
        #expect(try await store.status().get().snapshot?.keyIDs == ["a"])
        #expect(events.all == [.keysChanged(keyIDs: ["a"]), .fetched, .stateChanged(.ready)])
        store.stop()
    }

    @Test func `every subscriber has the new keys before anyone who waits goes on`() async throws {
        let store = fixture.store()
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { text in order.withLock { $0.append(text) } }
        for name in ["one", "two"] {
            try await store.subscribe { [loop] snapshot in
                // Another event loop, which is slow.
                loop.scheduleTask(in: .milliseconds(50)) { note("\(name) has \(snapshot.keyIDs)") }.futureResult
            }.get()
        }
        let waiting = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon()).map {
            note("on: \($0)")
        }
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        try await waiting.get()
        #expect(order.withLock { $0 } == ["one has [\"a\"]", "two has [\"a\"]", "on: refreshed"])
        store.stop()
    }

    @Test func `a late subscriber gets the current keys at once`() async throws {
        let store = fixture.store()
        let waiting = store.wait(for: .refresh(dropsOmitted: true), judgedBy: 0, until: fixture.soon())
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        _ = try await waiting.get()
        let got = Mutex<[[String]]>([])
        try await store.subscribe { [loop] snapshot in
            got.withLock { $0.append(snapshot.keyIDs) }
            return loop.makeSucceededVoidFuture()
        }.get()
        #expect(got.withLock { $0 } == [["a"]])
        store.stop()
    }

    @Test func `patience ends while the fetch goes on`() async throws {
        let store = fixture.store()
        let first = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
        try await fetcher.begun()
        let impatient = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon(50))
        #expect(try await impatient.get() == .unavailable(retryAfter: .seconds(1)))
        let patient = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
        // Ensures that the wait is registered before the fetch ends.
        _ = try await store.status().get()
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        #expect(try await first.get() == .refreshed)
        #expect(try await patient.get() == .retry)
        #expect(await fetcher.calls == 1)
        store.stop()
    }

    @Test func `a failure is reported to waiters and the operator, until a fetch succeeds`() async throws {
        var rules = KeyRules()
        rules.minimumBackoff = .seconds(60)
        let store = fixture.store(nil, rules)
        let before = SystemClocks.unixSeconds()
        let waiting = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
        try await fetcher.end(.failure(Scene.failure))
        #expect(try await waiting.get() == .unavailable(retryAfter: .seconds(60)))
        let status = try await store.status().get()
        #expect(status.snapshot == nil)
        #expect(status.lastFailure == Scene.failure)
        #expect(try #require(status.lastFailureAtUnixSeconds) >= before)
        #expect(try #require(status.nextFetchIn) <= .seconds(60))
        #expect(events.all == [.fetchFailed(Scene.failure, isFirst: true)])
        let refreshed = store.wait(for: .refresh(dropsOmitted: true), judgedBy: 0, until: fixture.soon())
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        #expect(try await refreshed.get() == .refreshed)
        #expect(try await store.status().get().lastFailure == nil)
        #expect(await fetcher.calls == 2)
        store.stop()
    }

    @Test func `after a failure the timer sees to another try, and another`() async throws {
        var rules = KeyRules()
        rules.firstBackoff = Interval(milliseconds: 1)
        rules.minimumBackoff = Interval(milliseconds: 1)
        rules.maximumBackoff = Interval(milliseconds: 1)
        let store = fixture.store(nil, rules)
        try await store.start().get()
        for _ in 0..<20 { try await fetcher.end(.failure(Scene.failure)) }
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        let waiting = store.wait(for: .refresh(dropsOmitted: true), judgedBy: 0, until: fixture.soon())
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        #expect(try await waiting.get() == .refreshed)
        #expect(await fetcher.calls == 22)
        #expect(events.all.first == .fetchFailed(Scene.failure, isFirst: true))
        #expect(events.all.dropFirst().prefix(19).allSatisfy { $0 == .fetchFailed(Scene.failure, isFirst: false) })
        store.stop()
    }

    @Test func `start fetches by itself`() async throws {
        let store = fixture.store()
        try await store.start().get()
        try await fetcher.begun()
        #expect(try await store.status().get().nextFetchIn == nil)
        #expect(await fetcher.calls == 1)
        store.stop()
        try await fetcher.end(.failure(Scene.failure))
    }

    // MARK: Stopping

    @Test func `a stop answers all waiters`() async throws {
        let store = fixture.store()
        let waiting = (0..<10).map { _ in store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
        }
        try await fetcher.begun()
        store.stop()
        for outcome in waiting { #expect(try await outcome.get() == .unavailable(retryAfter: .seconds(1))) }
        let late = store.wait(for: .refresh(dropsOmitted: true), judgedBy: 0, until: fixture.soon())
        #expect(try await late.get() == .unavailable(retryAfter: .seconds(1)))
        #expect(await fetcher.calls == 1)
        try await fetcher.end(.success(KeySets.fetched(["a"])))
    }

    @Test func `a fetch that ends after a stop tells nobody and plans nothing`() async throws {
        var rules = KeyRules()
        rules.firstBackoff = Interval(milliseconds: 1)
        rules.minimumBackoff = Interval(milliseconds: 1)
        let store = fixture.store(nil, rules)
        let got = Mutex(0)
        try await store.subscribe { [loop] _ in
            got.withLock { $0 += 1 }
            return loop.makeSucceededVoidFuture()
        }.get()
        try await store.start().get()
        try await fetcher.begun()
        store.stop()
        try await fetcher.end(.failure(Scene.failure))
        // The backoff after a first failure would have ended by then.
        try await loop.scheduleTask(in: .milliseconds(100)) {}.futureResult.get()
        #expect(await fetcher.calls == 1)
        #expect(got.withLock { $0 } == 0)
        #expect(events.all == [])
    }
}
