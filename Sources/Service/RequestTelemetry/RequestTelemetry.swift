internal import HTTP
internal import NIOCore
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
            trace: RequestTrace(caller: record.caller, span: span))
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

    func noteUnknownRequest(under policy: ForwardAuthPolicy) {
        guard policies.withLock({ $0.insert(policy.id).inserted }) else { return }
        log.write(
            .warning, "gateway did not send the request's method and path once",
            [
                ("policy", .text(policy.id)), ("code", .text(Denial.requestUnknown.code)),
                ("setting", .text("request_url")),
            ])
    }
}
