private import Synchronization
package import Tracing

/// A span under way. One that is not recorded takes everything and keeps nothing.
package final class TraceSpan: Tracing.Span {
    package let spanContext: SpanContext
    /// What came with the parent's context beside the trace.
    private let surroundings: InstrumentationContext
    /// `nil` where it is not recorded, or not any more.
    private let recording: Mutex<FinishedSpan?>
    private let onEnd: @Sendable (FinishedSpan) -> Void

    init(
        _ context: SpanContext, in surroundings: InstrumentationContext, recording: FinishedSpan?,
        onEnd: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        spanContext = context
        self.surroundings = surroundings
        self.recording = Mutex(recording)
        self.onEnd = onEnd
    }

    package var context: InstrumentationContext {
        var context = surroundings
        context.span = spanContext
        return context
    }

    package var isRecording: Bool { recording.withLock { $0 != nil } }

    package var operationName: String {
        get { recording.withLock { $0?.name ?? "" } }
        set { change { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { recording.withLock { $0?.attributes ?? [:] } }
        set { change { $0.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    // Events and links are not exported: nothing in Assay adds one. An error's text could contain anything.

    package func addEvent(_ event: SpanEvent) {}

    package func addLink(_ link: SpanLink) {}

    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}

    /// Ends the span, once.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let recorded = recording.withLock({ $0.take() }) else { return }
        onEnd(recorded.ended(at: instant().nanosecondsSinceEpoch))
    }

    private func change(_ change: (inout FinishedSpan) -> Void) {
        recording.withLock { recording in
            guard var span = recording.take() else { return }
            change(&span)
            recording = span
        }
    }
}

extension InstrumentationContext {
    /// The span that work in this context is a part of.
    package var span: SpanContext? {
        get { self[SpanKey.self] }
        set { self[SpanKey.self] = newValue }
    }

    private enum SpanKey: InstrumentationContextKey {
        typealias Value = SpanContext
    }
}
