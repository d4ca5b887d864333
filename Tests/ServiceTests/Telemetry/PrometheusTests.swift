@testable import Service
import Testing
import TestSupport

@Suite struct PrometheusTextTests {
    private func written(_ write: (inout PrometheusText) -> Void) -> String {
        var page = PrometheusText()
        write(&page)
        return text(page.bytes)
    }

    @Test func `a metric is announced, then sampled`() {
        let page = written { page in
            page.metric(
                "a_total", .counter, "How often.",
                labels: ["x", "y"], [PrometheusText.Sample(["1", ""], -2)])
            page.metric("b_seconds", .gauge, "How long.", 1.25)
        }
        #expect(
            page == """
                # HELP a_total How often.
                # TYPE a_total counter
                a_total{x="1",y=""} -2
                # HELP b_seconds How long.
                # TYPE b_seconds gauge
                b_seconds 1.25

                """)
    }

    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("a\"b\\c\nd", "a\\\"b\\\\c\\nd"),
        ("\\n", "\\\\n"), ("é{}=,", "é{}=,"), ("\r\n", "\r\\n"),
    ])
    func `label values are escaped`(value: String, escaped: String) {
        let page = written { $0.metric("m", .gauge, "Some.", labels: ["l"], [PrometheusText.Sample([value], 1)]) }
        #expect(page.hasSuffix("\nm{l=\"\(escaped)\"} 1\n"))
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
}
