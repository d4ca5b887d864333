/// Identifies a span to other systems: its trace, its ID, and the trace's flags and state.
package struct SpanContext: Sendable, Hashable {
    package let traceID: TraceID
    package let spanID: SpanID
    package let flags: TraceFlags
    /// The `tracestate` that other systems have added; `nil` if there is none to propagate.
    package var state: String?
    /// Whether the context was received from another process.
    package let isRemote: Bool

    package init(
        traceID: TraceID, spanID: SpanID, flags: TraceFlags, state: String? = nil, isRemote: Bool = false
    ) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
        self.isRemote = isRemote
    }

    package var isSampled: Bool { flags.contains(.sampled) }
}
