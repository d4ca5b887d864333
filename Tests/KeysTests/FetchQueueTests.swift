import HTTP
import Keys
import NIOCore
import Testing
import TestSupport

@Suite struct FetchQueueTests {
    /// A queue with these fetches waiting, whose tickets are 0, 1 …
    private func queue(limit: Int, _ kinds: FetchQueue.Kind...) -> FetchQueue {
        var queue = FetchQueue(limit: limit)
        for (index, kind) in kinds.enumerated() { #expect(queue.enter(kind) == index) }
        return queue
    }

    @Test func `a fetch begins when there is a slot, once`() {
        var queue = queue(limit: 2, .first, .first, .first)
        #expect(queue.admit() == [0, 1])
        #expect(queue.admit() == [])
        queue.leave(1)
        #expect(queue.admit() == [2])
    }

    @Test func `refreshes go before first fetches, and these before retries, each kind in its order`() {
        var queue = queue(limit: 4, .retry, .first, .refresh, .first, .refresh)
        #expect(queue.admit() == [2, 4, 1, 3])
        queue.leave(2)
        #expect(queue.admit() == [0])
    }

    @Test func `retries get at most half of the slots, and what they leave is for the others`() {
        var queue = queue(limit: 4, .retry, .retry, .retry)
        #expect(queue.admit() == [0, 1])
        _ = queue.enter(.first)
        _ = queue.enter(.first)
        _ = queue.enter(.first)
        #expect(queue.admit() == [3, 4])
        queue.leave(3)
        #expect(queue.admit() == [5])
        queue.leave(0)
        #expect(queue.admit() == [2])
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 1), (5, 2), (64, 32)])
    func `there is always a slot for a retry`(limit: Int, retries: Int) {
        var queue = FetchQueue(limit: limit)
        for _ in 0..<100 { _ = queue.enter(.retry) }
        #expect(queue.admit().count == retries)
    }

    @Test func `a fetch that is no longer needed does not begin, and its slot is given once`() {
        var queue = queue(limit: 1, .first, .first, .first)
        queue.leave(1)
        #expect(queue.admit() == [0])
        queue.leave(0)
        queue.leave(0)
        queue.leave(1)
        #expect(queue.admit() == [2])
        #expect(queue.admit() == [])
    }

    @Test func `a lower limit waits for those under way, a higher one lets others begin`() {
        var queue = queue(limit: 2, .first, .first, .first, .first)
        #expect(queue.admit() == [0, 1])
        queue.limit = 1
        queue.leave(0)
        #expect(queue.admit() == [])
        queue.limit = 3
        #expect(queue.admit() == [2, 3])
    }
}

/// Key stores that share slots.
@Suite struct FetchSlotsTests {
    private let fixtures: [KeyStoreFixture]

    init() {
        let loop = KeyStoreFixture().loop
        fixtures = (0..<3).map { _ in KeyStoreFixture(loop: loop) }
    }

    /// Stores that have started in order; all but the first ones wait for a slot.
    private func stores(limit: Int) async throws -> [KeyStore] {
        let slots = FetchSlots(limit: limit, on: fixtures[0].loop)
        let stores = fixtures.map { $0.store(slots: slots) }
        for store in stores { try await store.start().get() }
        return stores
    }

    @Test func `a fetch that ends, in whatever way, lets the next one begin`() async throws {
        let stores = try await stores(limit: 1)
        let result: [Result<FetchedKeys, FetchFailure>] = [
            .success(KeySets.fetched(["a"])), .failure(FetchFailure(.connect, "refused")),
            .success(KeySets.fetched(["b"])),
        ]
        for index in stores.indices {
            try await fixtures[index].fetcher.begun()
            for later in fixtures[(index + 1)...] { #expect(await later.fetcher.calls == 0) }
            try await fixtures[index].fetcher.end(result[index])
        }
        try await eventually { try await stores[2].status().get().snapshot?.keyIDs == ["b"] }
    }

    @Test func `a store that stops gives its slot back, and one that waits does not fetch`() async throws {
        let stores = try await stores(limit: 1)
        try await fixtures[0].fetcher.begun()
        stores[1].stop()
        stores[0].stop()
        try await fixtures[2].fetcher.begun()
        #expect(await fixtures[1].fetcher.calls == 0)
    }

    @Test func `requests that wait for a fetch that has not begun are answered in time`() async throws {
        let stores = try await stores(limit: 1)
        let waiting = stores[1].wait(
            for: .anyKeys(mayFetch: true), judgedBy: 0, until: SystemClocks.monotonic() + Interval(milliseconds: 1))
        #expect(try await waiting.get() == .unavailable(retryAfter: .seconds(1)))
    }
}
