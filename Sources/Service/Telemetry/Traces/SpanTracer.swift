private import Bytes
private import Synchronization
package import Tracing

/// Creates spans, and passes finished recorded spans to the exporter.
package final class SpanTracer: Tracer {
    private let sampler: Sampler
    private let onEnd: @Sendable (FinishedSpan) -> Void
    /// SplitMix64: IDs need to be unique, not unpredictable.
    private let state: Atomic<UInt64>

    /// - Parameters:
    ///   - seed: equal seeds yield equal sequences of IDs.
    ///   - onEnd: called with each recorded span on the thread that ended it.
    package init(
        _ sampler: Sampler, seed: UInt64 = .random(in: .min ... .max),
        onEnd: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.sampler = sampler
        self.onEnd = onEnd
        state = Atomic(seed)
    }

    // MARK: Spans

    /// Creates the context of a new span, and decides whether it is recorded. Allocates nothing.
    ///
    /// - Parameter parent: the span's parent; `nil` to start a trace.
    package func newContext(below parent: SpanContext?) -> SpanContext {
        let traceID = parent?.traceID ?? newTraceID()
        let isSampled = sampler.records(below: parent, traceID)
        return SpanContext(
            traceID: traceID, spanID: newSpanID(),
            flags: (parent?.flags ?? .random).subtracting(.sampled).union(isSampled ? .sampled : []),
            state: parent?.state)
    }

    /// Starts a span with a given context.
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

    /// Does nothing: spans are exported periodically and at shutdown.
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

    // MARK: IDs

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

/// Decides which traces are recorded: those that the caller records, and a fraction of those that start here.
package struct Sampler: Sendable {
    /// A trace is recorded if the last 56 bits of its ID are at least this value (OpenTelemetry, TraceState:
    /// Probability Sampling). All services that use this rule record the same traces.
    private let threshold: UInt64

    private static let end: UInt64 = 1 << 56

    /// - Parameter ratio: the fraction of the traces starting here that is recorded, from 0 to 1.
    package init(ratio: Double) {
        threshold = Self.end - UInt64((min(max(ratio, 0), 1) * Double(Self.end)).rounded())
    }

    /// Whether to record a span.
    ///
    /// - Parameters:
    ///   - parent: its parent; the span inherits the parent's decision.
    ///   - traceID: its trace.
    func records(below parent: SpanContext?, _ traceID: TraceID) -> Bool {
        parent?.isSampled ?? (traceID.low & (Self.end - 1) >= threshold)
    }
}
