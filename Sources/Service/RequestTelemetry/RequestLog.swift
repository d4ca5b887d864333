internal import Telemetry
internal import Verification
private import Host
private import JSON
internal import NIOCore

/// A line for each request of one event loop, or for each that was refused. Confined to that loop.
///
/// Lines are gathered and handed on ten times a second: a system call for each request would cost more than the request.
final class RequestLog {
    private let sink: LogSink
    private let writesRefusedOnly: Bool
    private let includesProbes: Bool
    /// `nil`: however often the same is refused, each has its line.
    private var repeats: LogRateLimiter<Refusal>?
    private var lines = JSONWriter(reservingCapacity: 2 * flushSize)
    /// The time as text, made anew once a millisecond at most.
    private var timestamp = (unixMilliseconds: Int64(0), text: "")
    private var flushing: RepeatedTask?
    private static let flushSize = 32 * 1024

    /// What makes refused requests the same: all of it from closed sets.
    private struct Refusal: Hashable {
        let route: Route
        let status: UInt
        let code: String?
        let provider: String?
        let limit: String?
        /// Of the settings, and nobody else's to choose.
        let keyName: String?
    }

    /// - Parameter logged: which requests have a line; with `none` there is no log of them.
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
        _ record: RequestRecord, status: UInt, code: String?, provider: String?, limit: String?,
        microseconds: Int64, trace: RequestTrace?
    ) {
        let route = record.route
        if route.isProbe, !includesProbes, status == 200 || status == 503 { return }
        if status >= 400 {
            let refusal = Refusal(
                route: route, status: status, code: code, provider: provider, limit: limit, keyName: record.keyName)
            guard !isLimited(refusal) || repeats?.admits(refusal, now: SystemClocks.monotonic()) != false else {
                return
            }
        } else if writesRefusedOnly {
            return
        }
        beginLine()
        lines.member("request_id", record.id)
        writeOutcome(route, status, code, provider)
        lines.member("duration_us", microseconds)
        if let limit { lines.member("limit", limit) }
        if let name = record.keyName { lines.member("api_key", name) }
        if let name = record.clientName { lines.member("client_certificate", name) }
        trace?.write(to: &lines)
        lines.endObject()
        lines.endLine()
        if lines.count >= Self.flushSize { flush() }
    }

    /// Whether lines of a refusal are limited in number: a client without a key must not be able to fill the log.
    private func isLimited(_ refusal: Refusal) -> Bool {
        if writesRefusedOnly { return true }
        if refusal.keyName != nil { return false }
        switch refusal.status {
        case 400, 401, 404, 405, 408, 413, 415, 431: return true
        // Connections beyond the limit are refused as they come.
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

    /// Says how many refused requests had no line.
    private func write(_ heldBack: [LogRateLimiter<Refusal>.HeldBack]) {
        for requests in heldBack {
            beginLine()
            if let refusal = requests.kind {
                writeOutcome(refusal.route, refusal.status, refusal.code, refusal.provider)
                if let limit = refusal.limit { lines.member("limit", limit) }
                if let name = refusal.keyName { lines.member("api_key", name) }
            }
            lines.member("suppressed", Int64(requests.count))
            lines.endObject()
            lines.endLine()
        }
    }

    /// Hands on what is left, and nothing after it.
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
