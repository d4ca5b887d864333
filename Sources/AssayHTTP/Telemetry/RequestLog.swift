private import Clocks
private import JSON
internal import NIOCore

/// One line for each request of one event loop. Confined to that loop.
///
/// Lines are gathered and handed on ten times a second: a system call for each request would cost more than the request.
final class RequestLog {
    private let sink: LogSink
    private var lines: [UInt8] = []
    /// The time as text, made anew once a millisecond at most.
    private var timestamp = (unixMilliseconds: Int64(0), text: "")
    private static let flushSize = 32 * 1024

    init(to sink: LogSink, on loop: any EventLoop) {
        self.sink = sink
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) { _ in
            bound.value.flush()
        }
    }

    func write(
        requestID: String, route: StaticString, status: UInt, code: String?, provider: String?, microseconds: Int64
    ) {
        let now = SystemClocks.unixMilliseconds()
        if now != timestamp.unixMilliseconds { timestamp = (now, Timestamp.text(unixMilliseconds: now)) }
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("time", timestamp.text)
        json.member("level", "info")
        json.member("message", "request")
        json.member("request_id", requestID)
        json.member("route", String(describing: route))
        json.member("status", Int64(status))
        json.member("code", code)
        json.member("provider", provider)
        json.member("duration_us", microseconds)
        json.endObject()
        lines += json.bytes
        lines.append(UInt8(ascii: "\n"))
        if lines.count >= Self.flushSize { flush() }
    }

    func flush() {
        guard !lines.isEmpty else { return }
        sink.write(lines)
        lines.removeAll(keepingCapacity: true)
    }
}
