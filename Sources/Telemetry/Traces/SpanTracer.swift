private import Bytes
private import Synchronization
package import Tracing

/// Makes spans, and gives those that are recorded to whoever exports them.
package final class SpanTracer: Tracer {
    private let sampler: Sampler
    private let onEnd: @Sendable (FinishedSpan) -> Void
    /// SplitMix64: ids need to differ, not to be unguessable.
    private let state: Atomic<UInt64>

    /// - Parameters:
    ///   - seed: where the ids begin; the same one makes the same ids.
    ///   - onEnd: called with each recorded span that has ended, on the thread that ended it.
    package init(
        _ sampler: Sampler, seed: UInt64 = .random(in: .min ... .max),
        onEnd: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.sampler = sampler
        self.onEnd = onEnd
        state = Atomic(seed)
    }

    // MARK: Spans

    /// Names a new span, and says whether it is recorded. Nothing is allocated.
    ///
    /// - Parameter parent: the span that it is a part of; `nil`: a trace begins with it.
    package func newContext(below parent: SpanContext?) -> SpanContext {
        let traceID = parent?.traceID ?? newTraceID()
        let isSampled = sampler.records(below: parent, traceID)
        return SpanContext(
            traceID: traceID, spanID: newSpanID(),
            flags: (parent?.flags ?? .random).subtracting(.sampled).union(isSampled ? .sampled : []),
            state: parent?.state)
    }

    /// Begins a span that has its name.
    ///
    /// - Parameter time: in Unix nanoseconds.
    package func startSpan(
        _ name: String, ofKind kind: SpanKind, named context: SpanContext, below parent: SpanContext?,
        in surroundings: InstrumentationContext = .topLevel, at time: UInt64
    ) -> TraceSpan {
        let recording = context.isSampled ? FinishedSpan(name, kind, context, below: parent, at: time) : nil
        return TraceSpan(context, in: surroundings, recording: recording, onEnd: onEnd)
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> TraceSpan {
        let surroundings = context()
        let parent = surroundings.span
        return startSpan(
            operationName, ofKind: kind, named: newContext(below: parent), below: parent, in: surroundings,
            at: instant().nanosecondsSinceEpoch)
    }

    /// Does nothing: spans go out by themselves, and at the end.
    package func forceFlush() {}

    // MARK: Contexts

    /// Does nothing: `traceparent` is read in place, by ``SpanContext/init(traceParent:)``.
    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) {}

    /// Does nothing: providers never receive trace headers.
    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) {}

    // MARK: Ids

    private func newTraceID() -> TraceID {
        while true {
            if let id = TraceID(high: nextNumber(), low: nextNumber()) { return id }
        }
    }

    private func newSpanID() -> SpanID {
        while true {
            if let id = SpanID(nextNumber()) { return id }
        }
    }

    private func nextNumber() -> UInt64 {
        SplitMix64.mix(state.wrappingAdd(SplitMix64.increment, ordering: .relaxed).newValue)
    }
}
