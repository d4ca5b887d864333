private import Clocks
private import JSON
internal import NIOCore

/// One line for each request of one event loop. Confined to that loop.
///
/// Lines are gathered and handed on ten times a second: a system call for each request would cost more than the request.
final class RequestLog {
    private let sink: LogSink
    private var lines = JSONWriter(reservingCapacity: 2 * flushSize)
    /// The time as text, made anew once a millisecond at most.
    private var timestamp = (unixMilliseconds: Int64(0), text: "")
    private var flushing: RepeatedTask?
    private static let flushSize = 32 * 1024

    init(to sink: LogSink, on loop: any EventLoop) {
        self.sink = sink
        let bound = NIOLoopBound(self, eventLoop: loop)
        flushing = loop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) { _ in
            bound.value.flush()
        }
    }

    func write(
        requestID: String, route: StaticString, status: UInt, code: String?, provider: String?, microseconds: Int64,
        trace: RequestTrace?
    ) {
        let now = SystemClocks.unixMilliseconds()
        if now != timestamp.unixMilliseconds { timestamp = (now, Timestamp.text(unixMilliseconds: now)) }
        lines.beginObject()
        lines.member("time", timestamp.text)
        lines.member("level", "info")
        lines.member("message", "request")
        lines.member("request_id", requestID)
        lines.name("route")
        lines.value(route)
        lines.member("status", Int64(status))
        lines.member("code", code)
        lines.member("provider", provider)
        lines.member("duration_us", microseconds)
        trace?.write(to: &lines)
        lines.endObject()
        lines.endLine()
        if lines.count >= Self.flushSize { flush() }
    }

    /// Hands on what is left, and nothing after it.
    func end() {
        flushing?.cancel()
        flushing = nil
        flush()
    }

    func flush() {
        guard lines.count > 0 else { return }
        sink.write(lines.bytes)
        lines.removeAll()
    }
}
