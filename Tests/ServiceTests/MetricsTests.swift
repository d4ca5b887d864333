@testable import Service
import Testing

@Suite struct LoopMetricsTests {
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
        // Durations are recorded for verify requests only.
        #expect(first.verifyDurations.count == 3)
        #expect(first.verifyDurations.sumMicroseconds == 120)
    }
}
