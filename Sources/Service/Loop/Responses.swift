private import Bytes
internal import HTTP
internal import JOSE
internal import NIOCore
internal import NIOHTTP1
internal import OAuth
internal import Verification

/// Creates responses, and counts, logs and traces each.
extension ServiceLoop {
    /// Counts and logs a request, and creates its response.
    func end(
        _ record: RequestRecord, _ status: HTTPResponseStatus, _ contentType: StaticString?, _ body: [UInt8] = [],
        constant: ByteBuffer? = nil, code: String? = nil, provider: Int? = nil, remark: LogRemark? = nil,
        headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        let duration = SystemClocks.monotonicMicroseconds() - record.startedAtMicroseconds
        metrics.countRequest(record.route, status: status.code, microseconds: duration)
        if let name = record.keyName { metrics.countCaller(.apiKey(name, record.listener)) }
        if let name = record.clientName { metrics.countCaller(.certificate(name, record.listener)) }
        let provider = provider.map { providerIDs[$0] }
        telemetry.record(
            record, status: status.code, code: code, provider: provider, remark: remark, microseconds: duration)
        var response = HTTPResponse(
            status: status, contentType: contentType, body: body, requestID: record.id, headers: headers,
            closesConnection: stage != .serving)
        response.constantBody = constant
        return response
    }

    /// - Parameters:
    ///   - spent: whether the request used something up, or may have; `nil`: the problem decides
    ///     (``Problem/isSpent``).
    ///   - resource: that the request names.
    ///   - challenge: how to answer the API's client; `nil` unless the request named a resource.
    func end(
        _ record: RequestRecord, _ problem: Problem, provider: Int? = nil, spent: Bool? = nil,
        of resource: Resource? = nil, challenge: Challenge? = nil
    ) -> HTTPResponse {
        let spent = record.route.usesSomethingUp ? spent ?? problem.isSpent : nil
        let nonce = record.route == .accessTokens ? proofNonce(ofProvider: provider, for: resource) : nil
        let body = json {
            problem.write(to: &$0, requestID: record.id, spent: spent, challenge: challenge, proofNonce: nonce)
        }
        return end(
            record, problem.responseStatus, "application/problem+json", body, code: problem.code, provider: provider,
            remark: LogRemark(problem), headers: problem.headers)
    }

    func end(
        _ record: RequestRecord, json: [UInt8], status: HTTPResponseStatus = .ok, provider: Int? = nil
    ) -> HTTPResponse {
        end(record, status, "application/json", json, provider: provider)
    }

    /// Responds with the JSON text that `write` produces.
    func end(
        _ record: RequestRecord, status: HTTPResponseStatus = .ok, provider: Int? = nil,
        writing write: (inout JSONWriter) -> Void
    ) -> HTTPResponse {
        end(record, json: json(write), status: status, provider: provider)
    }

    private static let adminBuffer =
        "the admin listener's buffer (the larger of 4MiB and twice limits.max_body, at most limits.max_buffered)"

    /// The response to a request that could not be read completely.
    func response(to request: FailedRequest, _ route: Route?, on listener: ListenerName) -> HTTPResponse {
        let problem: Problem =
            switch request.fault {
            case .malformed: .requestInvalid("The request is not valid, unambiguous HTTP/1.1.")
            case .repeatedField(let name):
                .requestInvalid("The header \(name) was sent more than once; send it once.")
            case .headersTooLarge: .headersTooLarge
            case .bodyTooLarge: .requestTooLarge
            case .timeout: .requestTimeout
            // The admin listener has its own limits: admin.max_connections is a setting, the buffer's limit is derived.
            case .overloaded(.connections) where listener == .admin: .overloaded(limit: "admin.max_connections")
            case .overloaded(.buffered) where listener == .admin: .overloaded(limit: Self.adminBuffer)
            case .overloaded(let limit): .overloaded(limit: "limits.\(limit.rawValue)")
            }
        return end(begin(route, request, on: listener), problem)
    }
}

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
