import HTTP
@testable import Service
import Testing

/// Which of many lines of one kind are written.
@Suite struct LogRateLimiterTests {
    /// The limiter in a class, because expectation macros can't call mutating methods.
    private final class Lines {
        private var limit: LogRateLimiter<String>

        init(burst: Int = 2, kinds: Int = 2) {
            var rules = LogRateLimits()
            rules.burst = burst
            rules.kinds = kinds
            limit = LogRateLimiter(rules)
        }

        func admits(_ kind: String, now: MonotonicTime) -> Bool { limit.admits(kind, now: now) }
        func heldBack(now: MonotonicTime) -> [String] { texts(limit.takeHeldBack(now: now)) }
        func allHeldBack() -> [String] { texts(limit.takeAllHeldBack()) }

        private func texts(_ heldBack: [LogRateLimiter<String>.HeldBack]) -> [String] {
            heldBack.map { "\($0.kind ?? "others") \($0.count)" }.sorted()
        }
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    @Test func `the first few of each kind, and then how many more there were`() {
        let limit = Lines()
        #expect((0..<5).map { _ in limit.admits("a", now: at(0)) } == [true, true, false, false, false])
        #expect(limit.admits("b", now: at(30)))
        #expect(limit.heldBack(now: at(59)) == [])
        #expect(limit.heldBack(now: at(60)) == ["a 3"])
        // Reported only once; a new window starts.
        #expect(limit.heldBack(now: at(60)) == [])
        #expect((0..<3).map { _ in limit.admits("a", now: at(60)) } == [true, true, false])
        // Nothing of this kind was suppressed.
        #expect(limit.heldBack(now: at(90)) == [])
        #expect(limit.heldBack(now: at(119)) == [])
        #expect(limit.heldBack(now: at(120)) == ["a 1"])
    }

    @Test func `kinds that there is no room for share an allowance`() {
        let limit = Lines()
        for kind in ["a", "b"] { #expect(limit.admits(kind, now: at(0))) }
        #expect(["c", "d", "e", "f"].map { limit.admits($0, now: at(10)) } == [true, true, false, false])
        // Known kinds keep their own windows.
        #expect(["a", "a"].map { limit.admits($0, now: at(10)) } == [true, false])
        #expect(limit.heldBack(now: at(60)) == ["a 1"])
        #expect(limit.heldBack(now: at(70)) == ["others 2"])
        #expect(limit.admits("c", now: at(70)))
    }

    @Test func `room that a kind had is another's once its while is over`() {
        let limit = Lines(burst: 1, kinds: 1)
        #expect(limit.admits("a", now: at(0)))
        _ = limit.heldBack(now: at(60))
        #expect(limit.admits("b", now: at(60)))
        #expect(!limit.admits("b", now: at(60)))
        #expect(limit.heldBack(now: at(120)) == ["b 1"])
    }

    @Test func `at the end, all suppressed lines are reported`() {
        let limit = Lines(burst: 1, kinds: 1)
        for kind in ["a", "a", "b", "b", "b"] { _ = limit.admits(kind, now: at(0)) }
        #expect(limit.allHeldBack() == ["a 1", "others 2"])
        #expect(limit.allHeldBack() == [])
        #expect(limit.admits("c", now: at(0)))
    }
}
