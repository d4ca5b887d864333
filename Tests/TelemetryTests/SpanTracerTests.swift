import Synchronization
import Testing
import Tracing

@testable import Telemetry

/// The tracer as swift-distributed-tracing knows tracers.
@Suite struct SpanTracerTests {
    private final class Spans: Sendable {
        private let kept = Mutex<[FinishedSpan]>([])
        var all: [FinishedSpan] { kept.withLock { $0 } }
        func keep(_ span: FinishedSpan) { kept.withLock { $0.append(span) } }
    }

    private struct Fields: Injector, Extractor {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
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
            outer.addEvent("event")
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

    @Test func `of an error its kind is told, and not its text`() throws {
        struct Secret: Error { let text = "secret" }
        let span = tracer().startSpan("s", context: .topLevel)
        span.recordError(Secret())
        span.end()
        let event = try #require(spans.all.first?.events.first)
        #expect(event.attributes.get("exception.type") == .string("Secret"))
        #expect(event.attributes.count == 1)
    }

    @Test func `a trace is taken up and passed on`() {
        let tracer = tracer(0)
        let carrier = [
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=1, b=2",
        ]
        var context = InstrumentationContext.topLevel
        tracer.extract(carrier, into: &context, using: Fields())
        let span = tracer.startSpan("s", context: context, ofKind: .server)
        var next: [String: String] = [:]
        tracer.inject(span.context, into: &next, using: Fields())
        #expect(
            next == [
                "traceparent": "00-0af7651916cd43dd8448eb211c80319c-\(span.spanContext.spanID.text)-01",
                "tracestate": "a=1,b=2",
            ])
        span.end()
        #expect(spans.all.first?.parent?.isRemote == true)
        #expect(spans.all.first?.context.isRemote == false)
    }

    @Test(arguments: [[:], ["traceparent": "00-x", "tracestate": "a=1"], ["tracestate": "a=1"]])
    func `a trace that is none is not taken up`(carrier: [String: String]) {
        let tracer = tracer()
        var context = InstrumentationContext.topLevel
        tracer.extract(carrier, into: &context, using: Fields())
        #expect(context.span == nil)
        var next: [String: String] = [:]
        tracer.inject(context, into: &next, using: Fields())
        #expect(next.isEmpty)
    }

    @Test func `ids differ`() {
        let tracer = tracer()
        let contexts = (0..<1000).map { _ in tracer.newContext(below: nil) }
        #expect(Set(contexts.map(\.traceID)).count == 1000)
        #expect(Set(contexts.map(\.spanID)).count == 1000)
    }
}
