import Clocks
import JOSE
import KeySource
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

/// Brings home what a test gives it, when the test gives it.
private actor PatientFetcher: KeyFetching {
    private(set) var calls = 0
    private var pending: [CheckedContinuation<Result<FetchedKeys, FetchFailure>, Never>] = []

    func fetch() async throws(FetchFailure) -> FetchedKeys {
        calls += 1
        return try await withCheckedContinuation { pending.append($0) }.get()
    }

    /// Waits for a fetch to begin, and ends it.
    func end(
        _ result: Result<FetchedKeys, FetchFailure>
    ) async throws {
        try await begun()
        pending.removeFirst().resume(returning: result)
    }

    /// Waits for a fetch to begin.
    func begun() async throws {
        try await eventually { !pending.isEmpty }
    }
}

@Suite struct KeyStoreTests {
    private let fetcher = PatientFetcher()
    private let events = Events()
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    private final class Events: Sendable {
        private let seen = Mutex<[KeyEvent]>([])
        var all: [KeyEvent] { seen.withLock { $0 } }
        func record(_ event: KeyEvent) { seen.withLock { $0.append(event) } }
    }

    private func store(_ archive: KeyArchive? = nil, _ rules: KeyRules = KeyRules()) -> KeyStore {
        KeyStore(rules: rules, fetcher: fetcher, archive: archive, threads: .singleton, on: loop) { [events] in
            events.record($0)
        }
    }

    private func soon(_ milliseconds: Int64 = 20_000) -> MonotonicTime {
        SystemClocks.monotonic() + Interval(milliseconds: milliseconds)
    }

    @Test func `many who wait share one fetch`() async throws {
        let store = store()
        let waiting = (0..<50).map { _ in store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: soon()) }
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        var outcomes: [Machine.Outcome] = []
        for outcome in waiting { outcomes.append(try await outcome.get()) }
        #expect(outcomes.first == .refreshed)
        #expect(outcomes.dropFirst().allSatisfy { $0 == .changed })
        #expect(await fetcher.calls == 1)
        #expect(try await store.status().get().snapshot?.keyIDs == ["a"])
        #expect(events.all == [.fetched, .keysChanged(keyIDs: ["a"])])
        store.stop()
    }

    @Test func `every subscriber has the new keys before anyone who waits goes on`() async throws {
        let store = store()
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { text in order.withLock { $0.append(text) } }
        for name in ["one", "two"] {
            try await store.subscribe { [loop] snapshot in
                // Another loop, which takes its time.
                loop.scheduleTask(in: .milliseconds(50)) { note("\(name) has \(snapshot.keyIDs)") }.futureResult
            }.get()
        }
        let waiting = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: soon()).map { note("on: \($0)") }
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        try await waiting.get()
        #expect(order.withLock { $0 } == ["one has [\"a\"]", "two has [\"a\"]", "on: refreshed"])
        store.stop()
    }

    @Test func `whoever subscribes later gets what is there at once`() async throws {
        let store = store()
        let waiting = store.wait(for: .refresh, judgedBy: 0, until: soon())
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
        let store = store()
        let impatient = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: soon(50))
        try await fetcher.begun()
        #expect(try await impatient.get() == .unavailable(retryAfter: .seconds(1)))
        let patient = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: soon())
        // The wait is on the loop before the fetch ends.
        _ = try await store.status().get()
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        #expect(try await patient.get() == .changed)
        #expect(await fetcher.calls == 1)
        store.stop()
    }

    @Test func `a failure is told to who waits and to the operator, until a fetch ends well`() async throws {
        var rules = KeyRules()
        rules.minimumBackoff = .seconds(60)
        let store = store(nil, rules)
        let before = SystemClocks.unixSeconds()
        let waiting = store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: soon())
        try await fetcher.end(.failure(Scene.failure))
        #expect(try await waiting.get() == .unavailable(retryAfter: .seconds(60)))
        let status = try await store.status().get()
        #expect(status.snapshot == nil)
        #expect(status.lastFailure == Scene.failure)
        #expect(try #require(status.lastFailureAtUnixSeconds) >= before)
        #expect(try #require(status.nextFetchIn) <= .seconds(60))
        #expect(events.all == [.fetchFailed(Scene.failure, isFirst: true)])
        let refreshed = store.wait(for: .refresh, judgedBy: 0, until: soon())
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
        let store = store(nil, rules)
        try await store.start().get()
        for _ in 0..<20 { try await fetcher.end(.failure(Scene.failure)) }
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        let waiting = store.wait(for: .refresh, judgedBy: 0, until: soon())
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        #expect(try await waiting.get() == .refreshed)
        #expect(await fetcher.calls == 22)
        #expect(events.all.first == .fetchFailed(Scene.failure, isFirst: true))
        #expect(events.all.dropFirst().prefix(19).allSatisfy { $0 == .fetchFailed(Scene.failure, isFirst: false) })
        store.stop()
    }

    @Test func `start fetches by itself`() async throws {
        let store = store()
        try await store.start().get()
        try await fetcher.begun()
        #expect(try await store.status().get().nextFetchIn == nil)
        #expect(await fetcher.calls == 1)
        store.stop()
        try await fetcher.end(.failure(Scene.failure))
    }

    // MARK: Stopping

    @Test func `a stop answers everyone, and nobody is kept waiting after it`() async throws {
        let store = store()
        let waiting = (0..<10).map { _ in store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: soon()) }
        try await fetcher.begun()
        store.stop()
        for outcome in waiting { #expect(try await outcome.get() == .unavailable(retryAfter: .seconds(1))) }
        let late = store.wait(for: .refresh, judgedBy: 0, until: soon())
        #expect(try await late.get() == .unavailable(retryAfter: .seconds(1)))
        #expect(await fetcher.calls == 1)
        try await fetcher.end(.success(KeySets.fetched(["a"])))
    }

    @Test func `a fetch that ends after a stop tells nobody and plans nothing`() async throws {
        var rules = KeyRules()
        rules.firstBackoff = Interval(milliseconds: 1)
        rules.minimumBackoff = Interval(milliseconds: 1)
        let store = store(nil, rules)
        let got = Mutex(0)
        try await store.subscribe { [loop] _ in
            got.withLock { $0 += 1 }
            return loop.makeSucceededVoidFuture()
        }.get()
        try await store.start().get()
        try await fetcher.begun()
        store.stop()
        try await fetcher.end(.failure(Scene.failure))
        // A pause after a first failure would be long over by then.
        try await loop.scheduleTask(in: .milliseconds(100)) {}.futureResult.get()
        #expect(await fetcher.calls == 1)
        #expect(got.withLock { $0 } == 0)
        #expect(events.all == [])
    }

    // MARK: What was kept

    @Test func `kept keys are handed out before the first fetch ends`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            let archive = directory.archive()
            let now = SystemClocks.unixSeconds()
            #expect(archive.save(KeySets.fetched(["d"]).fetched(at: now - 60), lifetime: .seconds(300)))
            let store = store(archive)
            try await store.start().get()
            let status = try await store.status().get()
            #expect(status.snapshot?.keyIDs == ["d"])
            #expect(status.snapshot?.source == .disk)
            #expect(events.all == [.keysChanged(keyIDs: ["d"])])
            try await fetcher.end(.success(KeySets.fetched(["a"]).fetched(at: now)))
            try await eventually { (try? archive.load(nowUnixSeconds: now))??.keys.keys.hasKey("a") == true }
            store.stop()
        }
    }

    @Test func `kept keys that are refused are reported, and the fetch begins all the same`() async throws {
        try await TemporaryDirectory.run { directory async throws in
            try directory.write("nonsense\n{}")
            let store = store(directory.archive())
            try await store.start().get()
            try await fetcher.begun()
            #expect(events.all == [.archiveRefused(reason: "its checksum is wrong")])
            store.stop()
            try await fetcher.end(.failure(Scene.failure))
        }
    }

    @Test func `keys that can't be kept are used, and the operator told`() async throws {
        let archive = KeyArchive(
            directory: "/nowhere/at/all", provider: "p", issuer: "https://p.example", location: "l",
            staleFor: .seconds(60))
        let store = store(archive)
        try await store.start().get()
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        try await eventually { [events] in events.all.contains(.archiveFailed) }
        #expect(try await store.status().get().snapshot?.keyIDs == ["a"])
        store.stop()
    }
}
