private import Bytes
internal import HTTP
internal import OAuth
internal import Verification

/// The data recorded about every request, regardless of its outcome.
struct RequestRecord {
    let id: String
    let route: Route
    /// `nil` if the request's head could not be read.
    let method: RequestMethod?
    let startedAtMicroseconds: Int64
    /// The caller's span, if the request has one.
    let caller: SpanContext?
    let listener: ListenerName
    /// The name in the client's certificate, if mutual TLS is required.
    let clientName: String?
    /// The name of the client's API key, once it has been authenticated.
    var keyName: String?
    /// The ID of the policy that applies to a gateway's request; `nil` for other requests.
    var policy: String?
    /// When the request's single-use claim started and ended, in microseconds of the monotonic clock; `nil` if there
    /// was none.
    var claim: Range<Int64>?
    /// The requests to providers that the request caused.
    var calls: [CallReport] = []
}

extension ServiceLoop {
    func begin(_ route: Route, _ request: HTTPRequest, on listener: ListenerName) -> RequestRecord {
        begin(
            route, request.head, on: listener, clientName: request.clientName,
            at: SystemClocks.monotonicMicroseconds())
    }

    /// - Parameter route: `nil` if the head could not be read.
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

extension RequestIDs {
    /// The caller's ID if it sent exactly one, with 1 to 128 visible ASCII characters; otherwise a new one.
    mutating func id(for fields: HTTPFields?) -> String {
        if let given = fields?.only("X-Request-Id"), (1...128).contains(given.count),
            given.bytes.allSatisfy(\.isVisibleASCII)
        {
            return given.string
        }
        return makeID()
    }
}
