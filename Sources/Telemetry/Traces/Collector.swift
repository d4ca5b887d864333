private import AsyncHTTPClient
internal import Host
private import JSON
package import NIOCore
private import NIOHTTP1
private import NIOPosix
private import NIOSSL

/// Where spans go: an OpenTelemetry collector that takes OTLP over HTTP in JSON. Its operator is ours, so any address
/// will do.
package final class Collector: Sendable {
    private let client: HTTPClient
    private let url: String
    private let headers: HTTPHeaders

    /// Time for one batch, from the connection to the end of the answer.
    private static let timeout = TimeAmount.seconds(10)
    private static let connectTimeout = TimeAmount.seconds(3)
    /// What is read of an answer.
    private static let maximumAnswer = 64 * 1024
    /// When asked to wait for longer, we don't.
    private static let longestRetryAfter: Int64 = 60

    /// - Parameters:
    ///   - endpoint: an `http` or `https` URL, to which `/v1/traces` is added.
    ///   - headers: what is sent beside the spans, such as a key.
    ///   - caFile: a PEM file with authorities to trust beside the system's.
    package init(
        endpoint: String, headers: CollectorHeaders = CollectorHeaders(), caFile: String? = nil, on loop: any EventLoop
    ) {
        url = (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + "/v1/traces"
        var fields: HTTPHeaders = ["Content-Type": "application/json", "User-Agent": "assay"]
        for (name, value) in headers.fields { fields.replaceOrAdd(name: name, value: value) }
        self.headers = fields
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let caFile { tls.additionalTrustRoots = [.file(caFile)] }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = Self.connectTimeout
        client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: configuration)
    }

    /// Sends one request's JSON.
    func send(_ json: [UInt8]) async -> SpanQueue.Outcome {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = headers
        request.body = .bytes(json)
        do {
            let response = try await client.execute(request, deadline: .now() + Self.timeout)
            switch response.status.code {
            case 200..<300:
                let answer = try? await response.body.collect(upTo: Self.maximumAnswer)
                return .accepted(rejected: Self.rejectedSpans(Array((answer ?? ByteBuffer()).readableBytesView)))
            case 429, 502, 503, 504:
                return .unavailable(
                    reason: "the collector answered with status \(response.status.code)",
                    retryAfter: Self.retryAfter(response.headers))
            default: return .refused(reason: "the collector answered with status \(response.status.code)")
            }
        } catch {
            return .unavailable(reason: Self.reason(error), retryAfter: nil)
        }
    }

    /// Ends what is under way.
    func close() async {
        // Nothing depends on how the client goes down.
        try? await client.shutdown()
    }

    /// How many spans of a batch that was taken were not: `partialSuccess.rejectedSpans`, a number or its digits.
    static func rejectedSpans(_ answer: [UInt8]) -> Int {
        guard let members = try? JSONTree(readingObject: answer).object,
            let rejected = members["partialSuccess"]?.object?["rejectedSpans"]
        else { return 0 }
        return rejected.integer.map { Int($0) } ?? rejected.string.flatMap { Int($0) } ?? 0
    }

    /// How long the collector asks to be left alone, where it says so in seconds.
    private static func retryAfter(_ headers: HTTPHeaders) -> Interval? {
        headers.first(name: "Retry-After").flatMap { Int64($0) }
            .flatMap { $0 >= 0 ? .seconds(min($0, longestRetryAfter)) : nil }
    }

    /// What an error means to an operator. Only its kind is told: its text could hold anything.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout: "no connection within the connect time-out"
            case .deadlineExceeded, .readTimeout: "the collector did not answer in time"
            case .remoteConnectionClosed: "the collector closed the connection"
            case .tlsHandshakeTimeout: "the TLS handshake timed out"
            default: "the export failed"
            }
        case is NIOConnectionError, is ChannelError, is IOError: "the connection was refused or broke"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            "TLS failed, or the collector's certificate is not trusted"
        default: "the export failed"
        }
    }
}
