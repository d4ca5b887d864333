internal import HTTP
internal import JOSE
internal import NIOCore
internal import NIOHTTP1
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

    func end(_ record: RequestRecord, json: [UInt8], status: HTTPResponseStatus = .ok) -> HTTPResponse {
        end(record, status, "application/json", json)
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
