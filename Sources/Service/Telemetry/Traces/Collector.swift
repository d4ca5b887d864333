private import Bytes
internal import HTTP
private import JOSE
package import Keys
package import NIOCore
private import NIOHTTP1

/// The destination of spans: an OpenTelemetry collector that accepts OTLP over HTTP with JSON. The operator configures
/// it, so any address is allowed.
package struct Collector: Sendable {
    private let url: FetchURL
    private let head: HTTPRequestHead
    private let caFile: String?
    private let loop: any EventLoop

    /// Per batch. Also limits how much of a response is read.
    private static let limits = HTTPExchange.Limits(
        connectTimeout: .seconds(3), totalTimeout: .seconds(10), maximumBody: 64 * 1024)
    /// The maximum wait in seconds, even if the collector asks for more.
    private static let longestRetryAfter: Int64 = 60

    /// - Parameters:
    ///   - endpoint: an `http` or `https` URL, to which `/v1/traces` is appended.
    ///   - headers: extra headers for the collector, such as an API key.
    ///   - caFile: a PEM file with additional CA certificates.
    ///   - loop: the loop on which requests are made. It may block.
    /// - Throws: ``FetchFailure`` with what is wrong with the URL.
    package init(
        endpoint: String, headers: CollectorHeaders, caFile: String?, on loop: any EventLoop
    ) throws(FetchFailure) {
        url = try FetchURL(endpoint + (endpoint.hasSuffix("/") ? "" : "/") + "v1/traces", allowingHTTP: true)
        var fields: HTTPHeaders = [
            "Host": url.authority, "Content-Type": "application/json", "User-Agent": "assay",
        ]
        for (name, value) in headers.fields { fields.replaceOrAdd(name: name, value: value) }
        head = HTTPRequestHead(version: .http1_1, method: .POST, uri: url.requestTarget, headers: fields)
        self.caFile = caFile
        self.loop = loop
    }

    /// Sends one export request.
    func send(_ json: [UInt8]) async -> SpanQueue.Outcome {
        let tls: HTTPExchange.TLS?
        do {
            tls = try await self.tls()
        } catch {
            return .unavailable(reason: Self.reason(.tlsFailed), retryAfter: nil)
        }
        var exchange = HTTPExchange(
            to: .host(url.host, port: url.port), tls: tls, head: head, body: json, limits: Self.limits)
        exchange.readsBody = { Self.isSuccess($0.status) }
        let answer = await exchange.perform(on: loop)
        switch (answer.head, answer.body) {
        case (let head?, let body) where Self.isSuccess(head.status):
            return .accepted(rejected: Self.rejectedSpans((try? body.get()) ?? []))
        case (let head?, _):
            let reason = "the collector answered with status \(head.status.code)"
            return [429, 502, 503, 504].contains(head.status.code)
                ? .unavailable(reason: reason, retryAfter: Self.retryAfter(head.headers)) : .refused(reason: reason)
        case (nil, .failure(let error)): return .unavailable(reason: Self.reason(error), retryAfter: nil)
        case (nil, .success): return .unavailable(reason: Self.reason(.other), retryAfter: nil)
        }
    }

    /// The TLS settings; `nil` for plain HTTP.
    private func tls() async throws -> HTTPExchange.TLS? {
        guard url.isSecure else { return nil }
        // Reading the certificates blocks.
        let store = try await loop.submit { [caFile] in try TrustStore.current(caFile: caFile) }.get()
        return HTTPExchange.TLS(context: store.context, host: url.host)
    }

    private static func isSuccess(_ status: HTTPResponseStatus) -> Bool { (200..<300).contains(status.code) }

    /// The number of rejected spans in an accepted batch: `partialSuccess.rejectedSpans`, a number or a decimal string.
    static func rejectedSpans(_ answer: [UInt8]) -> Int {
        guard let members = try? JSONTree(readingObject: answer).object,
            let rejected = members["partialSuccess"]?.object?["rejectedSpans"]
        else { return 0 }
        return rejected.integer.map { Int($0) } ?? rejected.string.flatMap { Int($0) } ?? 0
    }

    /// The delay in `Retry-After`, if it is a number of seconds.
    private static func retryAfter(_ headers: HTTPHeaders) -> Interval? {
        headers.first(name: "Retry-After").flatMap { Int64($0) }
            .flatMap { $0 >= 0 ? .seconds(min($0, longestRetryAfter)) : nil }
    }

    /// A description of an error for operators.
    private static func reason(_ error: HTTPExchangeError) -> String {
        switch error {
        case .connectTimeout: "no connection within the connect timeout"
        case .idleTimeout, .totalTimeout: "the collector did not answer in time"
        case .connectionClosed: "the collector closed the connection"
        case .tlsHandshakeTimeout: "the TLS handshake timed out"
        case .connectionFailed, .connectionReset: "the connection was refused or broke"
        case .notTLS, .closedInHandshake, .handshakeFailed, .certificateNotTrusted, .certificateForAnotherHost,
            .certificateNotAccepted, .uncleanShutdown, .tlsFailed:
            "TLS failed, or the collector's certificate is not trusted"
        case .proxyRefused, .notHTTP, .damagedCompression, .bodyTooLarge, .tooManyOctets, .tooSlow, .other:
            "the export failed"
        }
    }
}

/// Header fields for each request to the collector. A file has one `name: value` per line.
package struct CollectorHeaders: Sendable {
    let fields: [(name: String, value: String)]

    package init() { fields = [] }

    /// Reads lines. Empty lines and lines that begin with `#` are ignored.
    ///
    /// - Throws: ``Malformed`` with the line number, but not the line, which may contain a secret.
    package init(_ text: String) throws(Malformed) {
        var fields: [(name: String, value: String)] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimming(while: \.isWhitespace)
            guard !line.isEmpty, line.first != "#" else { continue }
            guard let colon = line.firstIndex(of: ":") else { throw Malformed(line: index + 1) }
            let name = line[..<colon]
            let value = line[line.index(after: colon)...].trimming(while: \.isWhitespace)
            guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter),
                value.utf8.allSatisfy(\.isPrintableASCII)
            else { throw Malformed(line: index + 1) }
            fields.append((String(name), String(value)))
        }
        self.fields = fields
    }

    /// A line that is not a header field.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let line: Int
        package var description: String { "line \(line) is not of the form name: value" }
    }
}
