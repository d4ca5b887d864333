private import Host
internal import HTTPServer
internal import Telemetry
internal import Verification

/// What is known of a request whatever becomes of it.
struct RequestRecord {
    let id: String
    let route: Route
    /// `nil` where the request's head could not be read.
    let method: RequestMethod?
    let startedAtMicroseconds: Int64
    /// The caller's span, where it told of one.
    let caller: SpanContext?
    let listener: ListenerName
    /// The name in the client's certificate, where it had to show one.
    let clientName: String?
    /// The name of the API key that the client has presented, once it was asked for one.
    var keyName: String?
    /// When its one claim was made and answered, in microseconds of the monotonic clock; `nil`: there was none.
    var claim: Range<Int64>?
}

extension ServiceLoop {
    func begin(_ route: Route, _ request: HTTPRequest, on listener: ListenerName) -> RequestRecord {
        begin(
            route, request.head, on: listener, clientName: request.clientName,
            at: SystemClocks.monotonicMicroseconds())
    }

    /// - Parameter route: where its head was read; else it is unknown.
    func begin(_ route: Route?, _ request: FailedRequest, on listener: ListenerName) -> RequestRecord {
        begin(
            route ?? .unknown, request.head, on: listener, clientName: request.clientName,
            at: request.startedAtMicroseconds ?? SystemClocks.monotonicMicroseconds())
    }

    private func begin(
        _ route: Route, _ head: RequestHead?, on listener: ListenerName, clientName: String?,
        at startedAtMicroseconds: Int64
    ) -> RequestRecord {
        RequestRecord(
            id: requestIDs.id(for: head?.fields), route: route, method: head?.method,
            startedAtMicroseconds: startedAtMicroseconds, caller: head.flatMap(telemetry.caller), listener: listener,
            clientName: clientName)
    }
}
