import TestSupport
import Testing

@testable import AssayHTTP

@Suite struct PrometheusTextTests {
    private func written(_ write: (inout PrometheusText) -> Void) -> String {
        var page = PrometheusText()
        write(&page)
        return text(page.bytes)
    }

    @Test func `a metric is announced, then sampled`() {
        let page = written { page in
            page.metric("a_total", .counter, "How often.")
            page.sample("a_total", [], 5)
            page.sample("a_total", [("x", "1"), ("y", "")], -2)
            page.sample("b_seconds", [("x", "1")], 1.25)
        }
        #expect(
            page == """
                # HELP a_total How often.
                # TYPE a_total counter
                a_total 5
                a_total{x="1",y=""} -2
                b_seconds{x="1"} 1.25

                """)
    }

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("a\"b\\c\nd", "a\\\"b\\\\c\\nd"),
        ("\\n", "\\\\n"), ("é{}=,", "é{}=,"), ("\r\n", "\r\\n"),
    ])
    func `label values are escaped`(value: String, escaped: String) {
        #expect(written { $0.sample("m", [("l", value)], 1) } == "m{l=\"\(escaped)\"} 1\n")
    }

    @Test func `a histogram is cumulative and ends in everything`() {
        var histogram = Histogram()
        for microseconds in [10, 25, 26, 1000, 6_000_000] as [Int64] { histogram.record(microseconds: microseconds) }
        let lines = written { $0.histogram("h", histogram) }.split(separator: "\n")
        #expect(lines.count == Histogram.bounds.count + 3)
        #expect(lines[0] == "h_bucket{le=\"2.5e-05\"} 2")
        #expect(lines[1] == "h_bucket{le=\"5e-05\"} 3")
        #expect(lines.contains("h_bucket{le=\"0.001\"} 4"))
        #expect(lines.contains("h_bucket{le=\"5.0\"} 4"))
        #expect(lines.suffix(3) == ["h_bucket{le=\"+Inf\"} 5", "h_sum 6.001061", "h_count 5"])
    }
}

@Suite struct HistogramTests {
    @Test(arguments: Histogram.bounds.indices)
    func `a bound belongs to its own bucket, and one more to the next`(index: Int) {
        var histogram = Histogram()
        histogram.record(microseconds: Histogram.bounds[index])
        histogram.record(microseconds: Histogram.bounds[index] + 1)
        #expect(histogram.buckets.enumerated().filter { $1 > 0 }.map(\.offset) == [index, index + 1])
    }

    @Test func `bounds rise`() {
        #expect(zip(Histogram.bounds, Histogram.bounds.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `no duration and the longest are counted`() {
        var histogram = Histogram()
        histogram.record(microseconds: 0)
        histogram.record(microseconds: 1 << 50)
        #expect(histogram.buckets.first == 1)
        #expect(histogram.buckets.last == 1)
        #expect(histogram.count == 2)
        #expect(histogram.sumMicroseconds == 1 << 50)
    }

    @Test func `loops add up`() {
        var first = LoopMetrics()
        var second = LoopMetrics()
        first.countRequest(.verify, status: 200, microseconds: 30)
        second.countRequest(.verify, status: 200, microseconds: 40)
        second.countRequest(.verify, status: 422, microseconds: 50)
        second.countRequest(.live, status: 200, microseconds: 1)
        first.countVerification(provider: 0, code: "ok")
        second.countVerification(provider: 0, code: "ok")
        second.countVerification(provider: nil, code: "provider_unknown")
        first.add(second)
        #expect(first.requests[.init(route: .verify, status: 200)] == 2)
        #expect(first.requests[.init(route: .verify, status: 422)] == 1)
        #expect(first.requests[.init(route: .live, status: 200)] == 1)
        #expect(first.verifications[.init(provider: 0, code: "ok")] == 2)
        #expect(first.verifications[.init(provider: nil, code: "provider_unknown")] == 1)
        // Only verify requests are timed.
        #expect(first.verifyDurations.count == 3)
        #expect(first.verifyDurations.sumMicroseconds == 120)
    }
}
