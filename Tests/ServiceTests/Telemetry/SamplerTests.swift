@testable import Service
import Testing
import TestSupport

/// Which traces are recorded.
@Suite struct SamplerTests {
    private func trace(_ low: UInt64) -> TraceID { TraceID(high: 1, low: low)! }

    private func parent(_ flags: TraceFlags) -> SpanContext {
        SpanContext(traceID: trace(0), spanID: SpanID(1)!, flags: flags, isRemote: true)
    }

    @Test(arguments: [0, 0.5, 1]) func `the caller's decision counts, whatever the ratio`(ratio: Double) {
        let sampler = Sampler(ratio: ratio)
        for low in [0, 1 << 55, UInt64.max] {
            #expect(sampler.records(below: parent(.sampled), trace(low)))
            #expect(!sampler.records(below: parent(.random), trace(low)))
        }
    }

    @Test func `the last 56 bits of the id decide, so that all go by the same`() {
        #expect(!Sampler(ratio: 0).records(below: nil, trace(.max)))
        #expect(Sampler(ratio: 1).records(below: nil, trace(0)))
        let half = Sampler(ratio: 0.5)
        #expect(!half.records(below: nil, trace((1 << 55) - 1)))
        #expect(half.records(below: nil, trace(1 << 55)))
        #expect(!half.records(below: nil, trace(0xff << 56)))
        let quarter = Sampler(ratio: 0.25)
        #expect(!quarter.records(below: nil, trace((3 << 54) - 1)))
        #expect(quarter.records(below: nil, trace(3 << 54)))
    }

    @Test func `so many of all traces are recorded`() {
        let tracer = SpanTracer(Sampler(ratio: 0.1), seed: 7, export: { _ in })
        let recorded = (0..<100_000).count { _ in tracer.newContext(below: nil).isSampled }
        #expect((9_700...10_300).contains(recorded))
    }
}
