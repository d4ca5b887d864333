internal import HTTP
internal import JOSE
private import Keys
private import OAuth
internal import Verification

/// Creates the spans of traced requests after the response. No code runs inside a request's span, so until then a span
/// costs only its IDs.
///
/// Attributes follow OpenTelemetry's semantic conventions for HTTP servers. They contain routes, codes and IDs from the
/// settings, but no path, address, token or claim.
struct RequestSpans {
    private let tracer: SpanTracer

    init(_ tracer: SpanTracer) { self.tracer = tracer }

    /// Records the span of an answered request.
    ///
    /// - Returns: the span's context; `nil` if it is not recorded.
    func record(
        _ request: RequestRecord, status: UInt, code: String?, provider: String?, microseconds: Int64
    ) -> SpanContext? {
        // Unauthenticated callers must not be able to fill the span queue, whatever trace they claim to belong to.
        guard request.route.isTraced, status != 401, code != Denial.gatewayUnauthenticated.code,
            code != Problem.overloadedCode, let method = request.method
        else { return nil }
        let context = tracer.newContext(below: request.caller)
        guard context.isSampled else { return nil }
        let end = SystemClocks.unixNanoseconds()
        func before(end microseconds: Int64) -> UInt64 { end - min(UInt64(max(microseconds, 0)) * 1000, end) }
        var span = FinishedSpan(
            name(method, request.route), .server, context, below: request.caller, from: before(end: microseconds),
            to: end)
        span.attributes = [
            "http.request.method": .text(method.rawValue), "http.response.status_code": .number(Int64(status)),
            "http.route": .text("\(request.route.pattern)"),
        ]
        span.attributes["assay.provider"] = provider.map(SpanValue.text)
        span.attributes["assay.policy"] = request.policy.map(SpanValue.text)
        span.attributes["assay.code"] = (code ?? (request.route.hasVerdict ? "ok" : nil)).map(SpanValue.text)
        if status >= 500 { span.fail(code ?? String(status)) }
        tracer.record(span)
        if let claim = request.claim {
            let requestEnd = request.startedAtMicroseconds + microseconds
            // How long the store took for it.
            tracer.record(
                FinishedSpan(
                    "claim", .client, tracer.newContext(below: context), below: context,
                    from: before(end: requestEnd - claim.lowerBound), to: before(end: requestEnd - claim.upperBound)))
        }
        for call in request.calls { record(call, provider, below: context) }
        return context
    }

    /// Records a request to a provider. No trace headers are sent to it.
    private func record(_ call: CallReport, _ provider: String?, below request: SpanContext) {
        let begun = call.startedAtUnixNanoseconds
        var span = FinishedSpan(
            call.endpoint.spanName, .client, tracer.newContext(below: request), below: request, from: begun,
            to: begun + call.nanoseconds)
        span.attributes = [
            "http.request.method": .text(call.endpoint == .userInfo ? "GET" : "POST"),
            "server.address": .text(call.address.host), "server.port": .number(Int64(call.address.port)),
            "assay.outcome": .text(call.outcome.rawValue),
        ]
        span.attributes["assay.provider"] = provider.map(SpanValue.text)
        span.attributes["http.response.status_code"] = call.status.map { .number(Int64($0)) }
        if call.outcome != .ok { span.fail(call.outcome.rawValue, message: call.reason) }
        tracer.record(span)
    }

    private func name(_ method: RequestMethod, _ route: Route) -> String {
        let method = method == .other ? "HTTP" : method.rawValue
        return "\(method) \(route.pattern)"
    }
}

extension CallEndpoint {
    fileprivate var spanName: String {
        switch self {
        case .token: "token"
        case .revocation: "revoke"
        case .pushedRequest: "pushed authorization request"
        case .userInfo: "user info"
        case .introspection: "introspection"
        case .userMigration: "user migration"
        }
    }
}

extension Route {
    /// Whether the span of a successful request has the code `ok`.
    fileprivate var hasVerdict: Bool {
        self == .verify || self == .signIns || self == .finishSignIn || self == .refreshGrant
            || self == .revokeGrant || self == .notifications || self == .accessTokens || self == .forwardAuth
    }
}

extension JSONWriter {
    /// Writes the trace of a request for its log line: the members that OpenTelemetry defines (Trace Context in non-OTLP
    /// Log Formats), and `parent_id`, W3C Trace Context's name for the caller's span.
    ///
    /// - Parameter span: the request's own span, if it is recorded.
    mutating func writeTrace(of span: SpanContext?, below caller: SpanContext?) {
        guard let context = span ?? caller else { return }
        member("trace_id", context.traceID.text)
        if let span { member("span_id", span.spanID.text) }
        if let caller { member("parent_id", caller.spanID.text) }
        member("trace_flags", context.flags.text)
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
