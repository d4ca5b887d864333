internal import HTTPServer
internal import JSON
internal import Telemetry

/// Where a request belongs in a trace, for its line in the log.
struct RequestTrace {
    private let context: SpanContext
    private let caller: SpanContext?
    private let span: SpanContext?

    /// - Parameters:
    ///   - caller: the caller's span, where it told of one.
    ///   - span: the request's own, where it is recorded.
    /// - Returns: `nil` where there is neither: the request is of no trace that anyone has.
    init?(caller: SpanContext?, span: SpanContext?) {
        guard let context = span ?? caller else { return nil }
        self.context = context
        self.caller = caller
        self.span = span
    }

    /// Writes the members that OpenTelemetry has for a line of a log (Trace Context in non-OTLP Log Formats), and
    /// `parent_id`, as W3C Trace Context calls the caller's span.
    func write(to json: inout JSONWriter) {
        json.member("trace_id", context.traceID.text)
        if let span { json.member("span_id", span.spanID.text) }
        if let caller { json.member("parent_id", caller.spanID.text) }
        json.member("trace_flags", context.flags.text)
    }
}

extension SpanContext {
    /// The span on whose behalf a request is made, as its header says (W3C Trace Context, 3). A field that is
    /// malformed, or there twice, counts as none.
    ///
    /// - Parameter withState: whether anyone will want to know of `tracestate`.
    init?(calling fields: HTTPFields, withState: Bool) {
        guard let text = fields.only("traceparent") else { return nil }
        self.init(traceParent: text.bytes.span)
        if withState { state = TraceState.text(fields.all("tracestate").map(\.string)) }
    }
}
