/// What names a span to others: its trace, itself, and what goes with the trace.
package struct SpanContext: Sendable, Hashable {
    package let traceID: TraceID
    package let spanID: SpanID
    package let flags: TraceFlags
    /// What systems on the trace's way have added to it, as `tracestate` had it; `nil`: nothing that can be passed on.
    package var state: String?
    /// Whether another process told us of it.
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
