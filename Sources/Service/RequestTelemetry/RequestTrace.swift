internal import HTTPServer
internal import JSON
internal import Telemetry

/// The trace context of a request, for its log line.
struct RequestTrace {
    private let context: SpanContext
    private let caller: SpanContext?
    private let span: SpanContext?

    /// - Parameters:
    ///   - caller: the caller's span, if the request has one.
    ///   - span: the request's own span, if it is recorded.
    /// - Returns: `nil` if there is neither.
    init?(caller: SpanContext?, span: SpanContext?) {
        guard let context = span ?? caller else { return nil }
        self.context = context
        self.caller = caller
        self.span = span
    }

    /// Writes the members that OpenTelemetry defines for log lines (Trace Context in non-OTLP Log Formats), and
    /// `parent_id`, W3C Trace Context's name for the caller's span.
    func write(to json: inout JSONWriter) {
        json.member("trace_id", context.traceID.text)
        if let span { json.member("span_id", span.spanID.text) }
        if let caller { json.member("parent_id", caller.spanID.text) }
        json.member("trace_flags", context.flags.text)
    }
}

extension SpanContext {
    /// Reads the caller's span from the request's header (W3C Trace Context, 3). A malformed or repeated field counts
    /// as absent.
    ///
    /// - Parameter withState: whether to read `tracestate`.
    init?(calling fields: HTTPFields, withState: Bool) {
        guard let text = fields.only("traceparent") else { return nil }
        self.init(traceParent: text.bytes.span)
        if withState { state = TraceState.text(fields.all("tracestate").map(\.string)) }
    }
}
