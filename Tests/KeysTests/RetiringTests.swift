import HTTP
import Keys
import NIOCore
import NIOPosix
import Synchronization
import Testing
import TestSupport

@Suite struct RetiringTests {
    private let fixture = KeyStoreFixture()
    private var fetcher: PatientFetcher { fixture.fetcher }

    private func wait(for store: KeyStore) -> EventLoopFuture<Machine.Outcome> {
        store.wait(for: .anyKeys(mayFetch: true), judgedBy: 0, until: fixture.soon())
    }

    @Test func `who waits is served, and has the keys delivered first`() async throws {
        let store = fixture.store()
        let delivered = Mutex<[[String]]>([])
        try await store.subscribe { [loop = fixture.loop] snapshot in
            delivered.withLock { $0.append(snapshot.keyIDs) }
            return loop.makeSucceededVoidFuture()
        }.get()
        let waiting = wait(for: store)
        try await fetcher.begun()
        store.retire()
        _ = try await store.status().get()
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        #expect(try await waiting.get() == .refreshed)
        #expect(delivered.withLock { $0 } == [["a"]])
        // No request waits any more, so the next one finds the store stopped.
        #expect(try await wait(for: store).get() == .unavailable(retryAfter: .seconds(1)))
        #expect(await fetcher.calls == 1)
    }

    @Test func `where nobody waits it stops at once`() async throws {
        let store = fixture.store()
        try await store.start().get()
        try await fetcher.begun()
        store.retire()
        #expect(try await wait(for: store).get() == .unavailable(retryAfter: .seconds(1)))
        try await fetcher.end(.success(KeySets.fetched(["a"])))
        // A result that arrives too late is discarded.
        for _ in 0..<50 { #expect(try await store.status().get().snapshot == nil) }
        #expect(fixture.events.all.isEmpty)
    }

    @Test func `stopping cancels the fetch under way`() async throws {
        let fetcher = CancellableFetcher()
        let store = KeyStore(
            rules: KeyRules(), fetcher: fetcher, archive: nil, threads: KeyStoreFixture.threads, on: fixture.loop,
            onEvent: { _ in })
        try await store.start().get()
        try await eventually { fetcher.hasBegun.load(ordering: .relaxed) }
        store.stop()
        try await eventually { fetcher.isCancelled.load(ordering: .relaxed) }
    }

    @Test func `a store that has stopped is let go of`() async throws {
        weak var last: KeyStore?
        do {
            let store = fixture.store()
            last = store
            try await store.subscribe { [loop = fixture.loop] _ in loop.makeSucceededVoidFuture() }.get()
            let waiting = wait(for: store)
            try await fetcher.end(.success(KeySets.fetched(["a"])))
            _ = try await waiting.get()
            store.retire()
        }
        try await eventually { last == nil }
    }
}

/// Never returns keys, but records its cancellation.
private final class CancellableFetcher: KeyFetching {
    let hasBegun = Atomic(false)
    let isCancelled = Atomic(false)

    func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        hasBegun.store(true, ordering: .relaxed)
        try? await Task.sleep(for: .seconds(600))
        isCancelled.store(Task.isCancelled, ordering: .relaxed)
        throw FetchFailure(.connect, "nobody waits")
    }
}
