@testable import Service
import Synchronization
import Testing

@Suite struct SpanTracerTests {
    private final class Spans: Sendable {
        private let kept = Mutex<[FinishedSpan]>([])
        var all: [FinishedSpan] { kept.withLock { $0 } }
        func keep(_ span: FinishedSpan) { kept.withLock { $0.append(span) } }
    }

    private let spans = Spans()

    private func tracer(_ ratio: Double = 1) -> SpanTracer {
        SpanTracer(Sampler(ratio: ratio), seed: 1, export: { [spans] in spans.keep($0) })
    }

    private func span(_ name: String, _ context: SpanContext, below parent: SpanContext? = nil) -> FinishedSpan {
        FinishedSpan(name, .internal, context, below: parent, from: 5, to: 6)
    }

    @Test func `spans within one another are of one trace`() {
        let tracer = tracer()
        let outer = tracer.newContext(below: nil)
        let inner = tracer.newContext(below: outer)
        tracer.record(span("inner", inner, below: outer))
        tracer.record(span("outer", outer))
        #expect(spans.all.map(\.name) == ["inner", "outer"])
        #expect(spans.all.map(\.context) == [inner, outer])
        #expect(inner.traceID == outer.traceID)
        #expect(inner.spanID != outer.spanID)
        #expect(inner.flags == [.sampled, .random])
    }

    @Test func `what is not recorded keeps nothing, and its children neither`() {
        let tracer = tracer(0)
        let outer = tracer.newContext(below: nil)
        let inner = tracer.newContext(below: outer)
        #expect(!outer.isSampled && !inner.isSampled && inner.traceID == outer.traceID)
        tracer.record(span("inner", inner, below: outer))
        tracer.record(span("outer", outer))
        #expect(spans.all.isEmpty)
    }

    @Test func `a span does not end before it began`() {
        let context = tracer().newContext(below: nil)
        #expect(FinishedSpan("s", .client, context, below: nil, from: 10, to: 9).endedAtUnixNanoseconds == 10)
        #expect(FinishedSpan("s", .client, context, below: nil, from: 10, to: 20).endedAtUnixNanoseconds == 20)
    }

    @Test func `a failure has its type`() {
        var span = span("s", tracer().newContext(below: nil))
        span.fail("timeout", message: "no answer")
        #expect(span.hasFailed && span.failureMessage == "no answer")
        #expect(span.attributes == ["error.type": .text("timeout")])
    }

    @Test func `a span within a remote one keeps its trace and state`() {
        let caller = SpanContext(
            traceID: TraceID(high: 1, low: 2)!, spanID: SpanID(3)!, flags: .sampled, state: "a=1,b=2", isRemote: true)
        let context = tracer(0).newContext(below: caller)
        #expect(!context.isRemote)
        #expect(context.traceID == caller.traceID)
        #expect(context.spanID != caller.spanID)
        #expect(context.state == "a=1,b=2")
        #expect(context.flags == .sampled)
    }

    @Test func `ids differ`() {
        let tracer = tracer()
        let contexts = (0..<1000).map { _ in tracer.newContext(below: nil) }
        #expect(Set(contexts.map(\.traceID)).count == 1000)
        #expect(Set(contexts.map(\.spanID)).count == 1000)
    }
}
