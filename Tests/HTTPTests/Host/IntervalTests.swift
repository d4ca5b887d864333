import HTTP
import Testing

@Suite struct IntervalTests {
    @Test func `intervals add, scale and compare`() {
        #expect(Interval.seconds(2) == Interval(milliseconds: 2000))
        #expect(Interval.seconds(2) + Interval(milliseconds: 1) == Interval(milliseconds: 2001))
        #expect(Interval.seconds(10) * 0.5 == .seconds(5))
        #expect(Interval(milliseconds: 3) * 0.5 == Interval(milliseconds: 1))
        #expect(Interval.seconds(1) < .seconds(2))
        #expect(!(Interval.seconds(2) < .seconds(2)))
        #expect(min(.seconds(3), max(.seconds(1), .seconds(2))) == Interval.seconds(2))
    }

    @Test(arguments: [(0, 0), (1, 1), (999, 1), (1000, 1), (1001, 2), (60_000, 60), (60_001, 61)] as [(Int64, Int64)])
    func `seconds are rounded up`(milliseconds: Int64, seconds: Int64) {
        #expect(Interval(milliseconds: milliseconds).secondsRoundedUp == seconds)
    }

    @Test func `moments and intervals go together`() {
        let start = MonotonicTime(milliseconds: 500)
        let end = start + .seconds(3)
        #expect(end == MonotonicTime(milliseconds: 3500))
        #expect(end - start == .seconds(3))
        #expect(start - end == Interval(milliseconds: -3000))
        #expect(start < end)
        #expect(start + .seconds(0) == start)
    }

    @Test func `the machine's clocks agree with each other`() {
        let before = SystemClocks.monotonic()
        let microseconds = SystemClocks.monotonicMicroseconds()
        let after = SystemClocks.monotonic()
        #expect(before <= after)
        #expect((before.milliseconds...after.milliseconds).contains(microseconds / 1000))
        let seconds = SystemClocks.unixSeconds()
        #expect((seconds...(seconds + 1)).contains(SystemClocks.unixMilliseconds() / 1000))
        // Any machine that runs this has a clock later than 2023.
        #expect(seconds > 1_700_000_000)
    }
}
