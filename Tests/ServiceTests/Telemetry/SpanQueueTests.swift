import HTTP
@testable import Service
import Testing

/// What is exported when, and what is dropped.
@Suite struct SpanQueueTests {
    private let start = MonotonicTime(milliseconds: 1000)

    private func queue(capacity: Int = 10, batch: Int = 4) -> SpanQueue {
        var rules = SpanQueue.Rules()
        rules.capacity = capacity
        rules.batch = batch
        rules.attempts = 3
        return SpanQueue(rules)
    }

    private func span(_ number: Int) -> FinishedSpan {
        let context = SpanContext(
            traceID: TraceID(high: 0, low: 1)!, spanID: SpanID(UInt64(number + 1))!, flags: .sampled)
        return FinishedSpan("\(number)", .internal, context, below: nil, from: 0, to: 0)
    }

    private func after(_ milliseconds: Int64) -> MonotonicTime { start + Interval(milliseconds: milliseconds) }

    private func names(_ batch: [FinishedSpan]?) -> [String]? { batch?.map(\.name) }

    @Test func `a full batch goes at once, and the rest after a while`() {
        var queue = queue()
        #expect(queue.isEmpty)
        #expect((0..<5).map { queue.add(span($0), now: start) } == [false, false, false, true, false])
        #expect(names(queue.nextBatch(now: start)) == ["0", "1", "2", "3"])
        // Only one batch is in flight at a time.
        #expect(queue.nextBatch(now: after(60_000)) == nil)
        queue.ended(.accepted(rejected: 0), now: after(100))
        #expect(queue.nextBatch(now: after(4_999)) == nil)
        #expect(names(queue.nextBatch(now: after(5_000))) == ["4"])
        #expect(!queue.isEmpty)
        queue.ended(.accepted(rejected: 1), now: after(5_000))
        #expect(queue.isEmpty)
        #expect(queue.nextBatch(now: after(60_000)) == nil)
        #expect(queue.counts.exported == 4)
        #expect(queue.counts.rejected == 1)
    }

    @Test func `there is room for so many, and new ones are dropped`() {
        var queue = queue(capacity: 4, batch: 2)
        for number in 0..<2 { _ = queue.add(span(number), now: start) }
        #expect(queue.nextBatch(now: start)?.count == 2)
        for number in 2..<9 { _ = queue.add(span(number), now: start) }
        #expect(queue.counts.droppedForWantOfRoom == 3)
        queue.ended(.accepted(rejected: 0), now: start)
        #expect(names(queue.nextBatch(now: start)) == ["2", "3"])
        queue.ended(.accepted(rejected: 0), now: start)
        #expect(names(queue.nextBatch(now: start)) == ["4", "5"])
    }

    @Test func `a collector that is away is asked again, later each time, and then given up`() {
        var queue = queue(batch: 1)
        _ = queue.add(span(0), now: start)
        _ = queue.add(span(1), now: start)
        let away = SpanQueue.Outcome.unavailable(reason: "away", retryAfter: nil)
        #expect(names(queue.nextBatch(now: start)) == ["0"])
        queue.ended(away, now: start, jitter: 1)
        #expect(queue.nextBatch(now: after(999)) == nil)
        #expect(names(queue.nextBatch(now: after(1_000))) == ["0"])
        queue.ended(away, now: after(1_000), jitter: 0.5)
        #expect(queue.nextBatch(now: after(1_999)) == nil)
        #expect(names(queue.nextBatch(now: after(2_000))) == ["0"])
        queue.ended(away, now: after(2_000))
        #expect(queue.counts.droppedByFailure == 1)
        #expect(names(queue.nextBatch(now: after(2_000))) == ["1"])
        queue.ended(.accepted(rejected: 0), now: after(2_000))
        #expect(queue.counts.exported == 1)
    }

    @Test(arguments: [(7, 7_000), (0, 0), (3600, 60_000)] as [(Int64, Int64)])
    func `a collector that says when is asked then, but not later than in a minute`(seconds: Int64, pause: Int64) {
        var queue = queue(batch: 1)
        _ = queue.add(span(0), now: start)
        _ = queue.nextBatch(now: start)
        queue.ended(.unavailable(reason: "busy", retryAfter: .seconds(seconds)), now: start)
        if pause > 0 { #expect(queue.nextBatch(now: after(pause - 1)) == nil) }
        #expect(queue.nextBatch(now: after(pause)) != nil)
    }

    @Test func `what the collector will never have is dropped at once`() {
        var queue = queue(batch: 2)
        for number in 0..<3 { _ = queue.add(span(number), now: start) }
        _ = queue.nextBatch(now: start)
        queue.ended(.refused(reason: "no"), now: start)
        #expect(queue.counts == counts { $0.droppedByFailure = 2 })
        #expect(names(queue.nextBatch(now: after(5_000))) == ["2"])
    }

    @Test func `at the end nothing waits, and nothing is tried again`() {
        var queue = queue(batch: 2)
        for number in 0..<3 { _ = queue.add(span(number), now: start) }
        let away = SpanQueue.Outcome.unavailable(reason: "away", retryAfter: .seconds(60))
        _ = queue.nextBatch(now: start)
        queue.ended(away, now: start)
        queue.beginToEnd()
        #expect(names(queue.nextBatch(now: start)) == ["0", "1"])
        queue.ended(away, now: start)
        #expect(names(queue.nextBatch(now: start)) == ["2"])
        queue.ended(.accepted(rejected: 0), now: start)
        #expect(queue.isEmpty)
        #expect(
            queue.counts
                == counts {
                    $0.droppedByFailure = 2; $0.exported = 1
                })
    }

    @Test(arguments: [-1, 5, Int.max, Int.min]) func `a collector can't reject more than it was sent`(rejected: Int) {
        var queue = queue(batch: 2)
        for number in 0..<2 { _ = queue.add(span(number), now: start) }
        _ = queue.nextBatch(now: start)
        queue.ended(.accepted(rejected: rejected), now: start)
        #expect(queue.counts.exported + queue.counts.rejected == 2)
        #expect((0...2).contains(queue.counts.rejected))
    }

    private func counts(_ change: (inout SpanQueue.Counts) -> Void) -> SpanQueue.Counts {
        var counts = SpanQueue.Counts()
        change(&counts)
        return counts
    }
}
