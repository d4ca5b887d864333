private import Synchronization
package import Tracing

/// A span in progress. If it is not recorded, all calls do nothing.
package final class TraceSpan: Tracing.Span {
    package let spanContext: SpanContext
    /// The parent's context. ``context`` replaces the span in it.
    private let surroundings: InstrumentationContext
    /// `nil` if it is not recorded or has ended.
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

    // Events and links are not exported: Assay adds none, and an error's text could contain anything.

    package func addEvent(_ event: SpanEvent) {}

    package func addLink(_ link: SpanLink) {}

    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}

    /// Ends the span. Only the first call counts.
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
    /// The current span of this context.
    package var span: SpanContext? {
        get { self[SpanKey.self] }
        set { self[SpanKey.self] = newValue }
    }

    private enum SpanKey: InstrumentationContextKey {
        typealias Value = SpanContext
    }
}
