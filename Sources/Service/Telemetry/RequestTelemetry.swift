internal import HTTP
private import JOSE
internal import NIOCore
private import OAuth
private import Synchronization
internal import Verification

/// Log lines and spans for the requests of one event loop. Confined to that loop.
struct RequestTelemetry {
    private let loop: any EventLoop
    private let sink: LogSink
    private var logged: LoggedRequests
    /// `nil`: requests are not logged.
    private var log: RequestLog?
    /// `nil`: requests are not traced.
    private let spans: RequestSpans?

    init(_ logged: LoggedRequests, to sink: LogSink, _ tracer: SpanTracer?, on loop: any EventLoop) {
        self.loop = loop
        self.sink = sink
        self.logged = logged
        log = RequestLog(of: logged, to: sink, on: loop)
        spans = tracer.map(RequestSpans.init)
    }

    mutating func change(to logged: LoggedRequests) {
        guard logged != self.logged else { return }
        self.logged = logged
        log?.end()
        log = RequestLog(of: logged, to: sink, on: loop)
    }

    /// The caller's span, if it will be logged or exported.
    func caller(of head: RequestHead) -> SpanContext? {
        guard log != nil || spans != nil else { return nil }
        return SpanContext(calling: head.fields, withState: spans != nil)
    }

    func record(
        _ record: RequestRecord, status: UInt, code: String?, provider: String?, remark: LogRemark?, microseconds: Int64
    ) {
        let span = spans?.record(record, status: status, code: code, provider: provider, microseconds: microseconds)
        log?.write(
            record, status: status, code: code, provider: provider, remark: remark, microseconds: microseconds,
            span: span)
    }

    /// Flushes the log and stops it.
    mutating func end() {
        log?.end()
        log = nil
    }
}

/// Logs refusals that a setting or a gateway's configuration causes, the first for each provider or policy. Metrics count
/// the others.
final class FirstRefusalLog: Sendable {
    private let log: Log
    private let providers = Mutex<Set<String>>([])
    private let policies = Mutex<Set<String>>([])

    init(_ log: Log) { self.log = log }

    func noteBoundToken(refusedBy provider: String) {
        guard providers.withLock({ $0.insert(provider).inserted }) else { return }
        log.write(
            .warning, "access token bound to a key refused",
            [
                ("provider", .text(provider)), ("code", .text("binding_required")),
                ("setting", .text("unchecked_bindings")),
            ])
    }

    /// Logs a policy's first request of which its gateway did not name the method and URL.
    func noteUnknownRequest(under policy: ForwardAuthPolicy) {
        guard policies.withLock({ $0.insert(policy.id).inserted }) else { return }
        log.write(
            .warning, "gateway did not send the request's method and path exactly once",
            [
                ("policy", .text(policy.id)), ("code", .text(Denial.requestUnknown.code)),
                ("setting", .text("request_url")),
            ])
    }
}

/// Logs all requests of one event loop, or only the refused ones. Confined to that loop.
///
/// Lines are flushed in batches, ten times a second: a system call per request would cost more than the request.
final class RequestLog {
    private let sink: LogSink
    private let writesRefusedOnly: Bool
    private let includesProbes: Bool
    /// `nil`: refusals are not rate-limited.
    private var repeats: LogRateLimiter<Refusal>?
    private var lines = JSONWriter(reservingCapacity: 2 * flushSize)
    /// The formatted time, updated at most once per millisecond.
    private var timestamp = (unixMilliseconds: Int64(0), text: "")
    private var flushing: RepeatedTask?
    private static let flushSize = 32 * 1024

    /// Refusals with equal values share a rate limit. All values come from closed sets.
    private struct Refusal: Hashable {
        let route: Route
        let status: UInt
        let code: String?
        let provider: String?
        let remark: LogRemark?
        /// A name in the settings, so callers can't choose it.
        let keyName: String?
        let policy: String?
    }

    /// - Parameter logged: which requests to log; with `none`, there is no request log.
    init?(of logged: LoggedRequests, to sink: LogSink, on loop: any EventLoop) {
        guard logged.kind != .none else { return nil }
        writesRefusedOnly = logged.kind == .refused
        includesProbes = logged.includesProbes
        repeats = logged.limitsRefusals ? LogRateLimiter() : nil
        self.sink = sink
        let bound = NIOLoopBound(self, eventLoop: loop)
        flushing = loop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) { _ in
            bound.value.flush()
        }
    }

    func write(
        _ record: RequestRecord, status: UInt, code: String?, provider: String?, remark: LogRemark?,
        microseconds: Int64, span: SpanContext?
    ) {
        let route = record.route
        if route.isProbe, !includesProbes, status == 200 || status == 503 { return }
        if status >= 400 {
            let refusal = Refusal(
                route: route, status: status, code: code, provider: provider, remark: remark, keyName: record.keyName,
                policy: record.policy)
            guard !isLimited(refusal) || repeats?.admits(refusal, now: SystemClocks.monotonic()) != false else {
                return
            }
        } else if writesRefusedOnly {
            return
        }
        beginLine()
        lines.member("request_id", record.id)
        writeOutcome(route, status, code, provider)
        if let policy = record.policy { lines.member("policy", policy) }
        lines.member("duration_us", microseconds)
        remark?.write(to: &lines)
        if let name = record.keyName { lines.member("api_key", name) }
        if let name = record.clientName { lines.member("client_certificate", name) }
        lines.writeTrace(of: span, below: record.caller)
        lines.endObject()
        lines.endLine()
        if lines.count >= Self.flushSize { flush() }
    }

    /// Whether to rate-limit lines of a refusal: a client without an API key must not be able to fill the log.
    private func isLimited(_ refusal: Refusal) -> Bool {
        if writesRefusedOnly { return true }
        // Unauthenticated users can cause a gateway's refusals with arbitrary tokens.
        if refusal.route == .forwardAuth { return true }
        if refusal.keyName != nil { return false }
        switch refusal.status {
        case 400, 401, 404, 405, 408, 413, 415, 431: return true
        // Connections over the limit are rejected before authentication.
        case 503: return refusal.code == Problem.overloadedCode
        default: return false
        }
    }

    private func beginLine() {
        let now = SystemClocks.unixMilliseconds()
        if now != timestamp.unixMilliseconds { timestamp = (now, Timestamp.text(unixMilliseconds: now)) }
        lines.beginObject()
        lines.member("time", timestamp.text)
        lines.member("level", "info")
        lines.member("message", "request")
    }

    private func writeOutcome(_ route: Route, _ status: UInt, _ code: String?, _ provider: String?) {
        lines.name("route")
        lines.value(route.pattern)
        lines.member("status", Int64(status))
        lines.member("code", code)
        lines.member("provider", provider)
    }

    /// Logs the numbers of suppressed lines.
    private func write(_ heldBack: [LogRateLimiter<Refusal>.HeldBack]) {
        for requests in heldBack {
            beginLine()
            if let refusal = requests.kind {
                writeOutcome(refusal.route, refusal.status, refusal.code, refusal.provider)
                if let policy = refusal.policy { lines.member("policy", policy) }
                refusal.remark?.write(to: &lines)
                if let name = refusal.keyName { lines.member("api_key", name) }
            }
            lines.member("suppressed", Int64(requests.count))
            lines.endObject()
            lines.endLine()
        }
    }

    /// Flushes the remaining lines and stops.
    func end() {
        flushing?.cancel()
        flushing = nil
        write(repeats?.takeAllHeldBack() ?? [])
        flush()
    }

    func flush() {
        write(repeats?.takeHeldBack(now: SystemClocks.monotonic()) ?? [])
        guard lines.count > 0 else { return }
        sink.write(lines.bytes)
        lines.removeAll()
    }
}

/// What a line says about a problem beyond its code. Contains no text from outside.
enum LogRemark: Hashable {
    /// The setting whose limit was reached.
    case limit(String)
    /// What is wrong with a provider's response, and with which member.
    case reason(String, member: String?)

    init?(_ problem: Problem) {
        switch problem {
        case .providerAnswerInvalid(let fault): self = .reason(fault.text, member: fault.memberName)
        default:
            guard let limit = problem.limit else { return nil }
            self = .limit(limit)
        }
    }

    fileprivate func write(to lines: inout JSONWriter) {
        switch self {
        case .limit(let limit): lines.member("limit", limit)
        case .reason(let reason, let member):
            lines.member("reason", reason)
            if let member { lines.member("member", member) }
        }
    }
}
