import Keys
import Testing

/// How the fetches of entries with many issuers share the slots with others.
@Suite struct FetchFairnessTests {
    private func queue(limit: Int, _ fetches: [(FetchQueue.Kind, FetchQueue.Source)]) -> FetchQueue {
        var queue = FetchQueue(limit: limit)
        for (index, (kind, source)) in fetches.enumerated() { #expect(queue.enter(kind, of: source) == index) }
        return queue
    }

    private let open = FetchQueue.Source.open(id: "o")
    private let list = FetchQueue.Source.list(id: "l")

    @Test func `half of the slots are never an open entry's`() {
        var queue = queue(limit: 4, Array(repeating: (.first, open), count: 6) + [(.first, .singleIssuers)])
        #expect(queue.admit() == [0, 6, 1])
        queue.leave(6)
        #expect(queue.admit() == [])
        queue.leave(0)
        #expect(queue.admit() == [2])
    }

    @Test func `two open entries together have no more`() {
        let other = FetchQueue.Source.open(id: "p")
        var queue = queue(limit: 4, [(.first, open), (.first, open), (.first, other), (.first, other)])
        #expect(queue.admit() == [0, 2])
    }

    @Test func `an open entry's retries leave room for its first fetches`() {
        var queue = queue(limit: 8, Array(repeating: (.retry, open), count: 8))
        #expect(queue.admit() == [0, 1])
        _ = queue.enter(.first, of: open)
        _ = queue.enter(.first, of: open)
        _ = queue.enter(.first, of: open)
        #expect(queue.admit() == [8, 9])
    }

    @Test func `sources take turns`() {
        var queue = queue(
            limit: 2,
            [(.first, list), (.first, list), (.first, list), (.first, .singleIssuers), (.first, .list(id: "m"))])
        #expect(queue.admit() == [0, 3])
        queue.leave(0)
        queue.leave(3)
        #expect(queue.admit() == [4, 1])
    }

    @Test func `a refresh of an open entry goes before another's first fetch`() {
        var queue = queue(limit: 1, [(.first, .singleIssuers), (.refresh, open)])
        #expect(queue.admit() == [1])
    }

    @Test func `an entry is full with eight times the slots, and another is not`() {
        var queue = queue(limit: 2, Array(repeating: (.first, list), count: 16))
        #expect(queue.isFull(list))
        #expect(!queue.isFull(open))
        #expect(queue.admit().count == 2)
        #expect(!queue.isFull(list))
    }

    @Test func `with one slot an open entry has it too`() {
        var queue = queue(limit: 1, [(.first, open), (.first, open)])
        #expect(queue.admit() == [0])
    }
}
