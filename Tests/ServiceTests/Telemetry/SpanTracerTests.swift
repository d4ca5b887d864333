@testable import Service
import Synchronization
import Testing
import Tracing

/// The tracer, through the API of swift-distributed-tracing.
@Suite struct SpanTracerTests {
    private final class Spans: Sendable {
        private let kept = Mutex<[FinishedSpan]>([])
        var all: [FinishedSpan] { kept.withLock { $0 } }
        func keep(_ span: FinishedSpan) { kept.withLock { $0.append(span) } }
    }

    private struct Instant: TracerInstant {
        let nanosecondsSinceEpoch: UInt64
        static func < (left: Instant, right: Instant) -> Bool {
            left.nanosecondsSinceEpoch < right.nanosecondsSinceEpoch
        }
    }

    private let spans = Spans()

    private func tracer(_ ratio: Double = 1) -> SpanTracer {
        SpanTracer(Sampler(ratio: ratio), seed: 1, onEnd: { [spans] in spans.keep($0) })
    }

    @Test func `spans within one another are of one trace`() throws {
        let tracer = tracer()
        tracer.withSpan("outer", context: .topLevel, ofKind: .server, at: Instant(nanosecondsSinceEpoch: 5)) { outer in
            outer.attributes["a"] = "b"
            tracer.withSpan("inner", ofKind: .client) { $0.setStatus(SpanStatus(code: .error)) }
        }
        #expect(spans.all.map(\.name) == ["inner", "outer"])
        let (inner, outer) = (spans.all[0], spans.all[1])
        #expect(inner.parent == outer.context)
        #expect(inner.context.traceID == outer.context.traceID)
        #expect(inner.context.spanID != outer.context.spanID)
        #expect(outer.parent == nil)
        #expect(outer.startedAtUnixNanoseconds == 5)
        #expect(outer.kind == .server)
        #expect(outer.attributes.get("a") == .string("b"))
        #expect(inner.status == SpanStatus(code: .error))
        #expect(inner.context.flags == [.sampled, .random])
    }

    @Test func `what is not recorded keeps nothing, and its children neither`() {
        let tracer = tracer(0)
        tracer.withSpan("outer", context: .topLevel) { outer in
            #expect(!outer.isRecording)
            outer.attributes["a"] = "b"
            #expect(outer.attributes.isEmpty)
            tracer.withSpan("inner") { #expect($0.spanContext.traceID == outer.spanContext.traceID) }
        }
        #expect(spans.all.isEmpty)
    }

    @Test func `a span ends once, and not before it began`() {
        let span = tracer().startSpan("s", context: .topLevel, at: Instant(nanosecondsSinceEpoch: 10))
        #expect(span.isRecording)
        span.end(at: Instant(nanosecondsSinceEpoch: 9))
        span.operationName = "late"
        span.end(at: Instant(nanosecondsSinceEpoch: 20))
        #expect(spans.all.map(\.endedAtUnixNanoseconds) == [10])
        #expect(spans.all.map(\.name) == ["s"])
        #expect(!span.isRecording)
    }

    @Test func `a span within a remote one keeps its trace and state`() throws {
        let caller = SpanContext(
            traceID: TraceID(high: 1, low: 2)!, spanID: SpanID(3)!, flags: .sampled, state: "a=1,b=2", isRemote: true)
        var context = InstrumentationContext.topLevel
        context.span = caller
        tracer(0).startSpan("s", context: context, ofKind: .server).end()
        let span = try #require(spans.all.first)
        #expect(span.parent == caller)
        #expect(span.parent?.isRemote == true)
        #expect(span.context.isRemote == false)
        #expect(span.context.traceID == caller.traceID)
        #expect(span.context.state == "a=1,b=2")
        #expect(span.context.flags == .sampled)
    }

    @Test func `ids differ`() {
        let tracer = tracer()
        let contexts = (0..<1000).map { _ in tracer.newContext(below: nil) }
        #expect(Set(contexts.map(\.traceID)).count == 1000)
        #expect(Set(contexts.map(\.spanID)).count == 1000)
    }
}
