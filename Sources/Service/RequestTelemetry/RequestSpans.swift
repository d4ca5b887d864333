internal import Verification
private import Host
private import HTTPServer
internal import Telemetry
private import Tracing

/// Makes a span of each request that is traced, once it has been answered: nothing is done of a request within it, so
/// it costs no more than its ids before.
///
/// Attributes go by OpenTelemetry's semantic conventions for HTTP servers. They hold routes, codes and ids of the
/// settings: no path, address, token or claim.
struct RequestSpans {
    private let tracer: SpanTracer

    init(_ tracer: SpanTracer) { self.tracer = tracer }

    /// Records the span of a request that has been answered.
    ///
    /// - Returns: what names it; `nil` where it is not recorded.
    func record(
        _ request: RequestRecord, status: UInt, code: String?, provider: String?, microseconds: Int64
    ) -> SpanContext? {
        // Whoever is not let in does not get to fill the queue of spans, whatever trace they say they are of.
        guard request.route.isTraced, status != 401, code != Problem.overloadedCode, let method = request.method
        else { return nil }
        let context = tracer.newContext(below: request.caller)
        guard context.isSampled else { return nil }
        let end = SystemClocks.unixNanoseconds()
        func before(end microseconds: Int64) -> UInt64 { end - min(UInt64(max(microseconds, 0)) * 1000, end) }
        let begun = before(end: microseconds)
        let span = tracer.startSpan(
            name(method, request.route), ofKind: .server, named: context, below: request.caller, at: begun)
        var attributes: SpanAttributes = [
            "http.request.method": .string(method.rawValue), "http.response.status_code": .int64(Int64(status)),
            "http.route": .string("\(request.route.pattern)"),
        ]
        if let provider { attributes["assay.provider"] = provider }
        if let code = code ?? (request.route.hasVerdict ? "ok" : nil) { attributes["assay.code"] = code }
        if status >= 500 {
            attributes["error.type"] = code ?? String(status)
            span.setStatus(SpanStatus(code: .error))
        }
        span.attributes = attributes
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
        if let claim = request.claim {
            let requestEnd = request.startedAtMicroseconds + microseconds
            record(
                claimFrom: before(end: requestEnd - claim.lowerBound), to: before(end: requestEnd - claim.upperBound),
                below: context)
        }
        return context
    }

    /// Records how long the store took to say whether something was used before.
    private func record(claimFrom begun: UInt64, to end: UInt64, below request: SpanContext) {
        let context = tracer.newContext(below: request)
        let span = tracer.startSpan("claim", ofKind: .client, named: context, below: request, at: begun)
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
    }

    private func name(_ method: RequestMethod, _ route: Route) -> String {
        let method = method == .other ? "HTTP" : method.rawValue
        return "\(method) \(route.pattern)"
    }
}

extension Route {
    /// Probes, scrapers and the console ask all day, and nobody wonders what became of it; and what is nowhere is nothing.
    fileprivate var isTraced: Bool {
        switch self {
        case .live, .ready, .metrics, .events, .verdicts, .root, .console, .consoleStyle, .consoleScript, .unknown:
            false
        case .verify, .batch, .signIns, .finishSignIn, .openAPI, .providers, .refresh, .explain: true
        }
    }

    /// Whether its response, unless it is a problem, says that something is good.
    fileprivate var hasVerdict: Bool { self == .verify || self == .signIns || self == .finishSignIn }
}
