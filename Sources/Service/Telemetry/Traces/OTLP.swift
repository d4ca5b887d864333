private import Bytes
internal import HTTP
internal import JOSE
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

/// Encodes spans as OpenTelemetry Protocol JSON: an `ExportTraceServiceRequest` (OTLP 1, JSON Protobuf Encoding).
///
/// IDs are hexadecimal, 64-bit integers are strings, and enumerations are numbers.
struct OTLPTraces {
    let resource: TraceResource

    /// The JSON text of one request.
    func json(_ spans: [FinishedSpan]) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 1024 + spans.count * 1024)
        json.object { json in
            json.objects("resourceSpans", [resource]) { json, resource in
                json.object("resource") { json in
                    json.writeAttributes(resource.attributes.map { ($0.name, .text($0.value)) })
                }
                json.objects("scopeSpans", [spans]) { json, spans in
                    json.object("scope") { json in
                        json.member("name", "assay")
                        json.member("version", resource.serviceVersion)
                    }
                    json.objects("spans", spans) { $0.write($1) }
                }
            }
        }
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes a span's members.
    fileprivate mutating func write(_ span: FinishedSpan) {
        member("traceId", span.context.traceID.text)
        member("spanId", span.context.spanID.text)
        if let state = span.context.state { member("traceState", state) }
        if let parent = span.parent { member("parentSpanId", parent.spanID.text) }
        member(
            "flags",
            Int64(span.context.flags.rawValue) | Self.knowsParent
                | (span.parent?.isRemote == true ? Self.remoteParent : 0))
        member("name", span.name)
        member("kind", span.kind.rawValue)
        member("startTimeUnixNano", String(span.startedAtUnixNanoseconds))
        member("endTimeUnixNano", String(span.endedAtUnixNanoseconds))
        // By name, so that the output is deterministic.
        writeAttributes(span.attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        if span.hasFailed {
            object("status") { json in
                if let message = span.failureMessage { json.member("message", message) }
                json.member("code", 2)
            }
        }
    }

    /// Flag: it is known whether the parent is remote.
    private static let knowsParent: Int64 = 0x100
    /// Flag: the parent is remote.
    private static let remoteParent: Int64 = 0x200

    fileprivate mutating func writeAttributes(_ attributes: [(name: String, value: SpanValue)]) {
        guard !attributes.isEmpty else { return }
        objects("attributes", attributes) { json, attribute in
            json.member("key", attribute.name)
            json.object("value") { $0.write(attribute.value) }
        }
    }

    /// Writes the member of an `AnyValue`.
    private mutating func write(_ value: SpanValue) {
        switch value {
        case .text(let text): member("stringValue", text)
        case .number(let number): member("intValue", String(number))
        }
    }
}

/// The kinds of spans, by their numbers in OTLP.
package enum SpanKind: Int64, Sendable {
    case `internal` = 1
    case server, client
}

/// The value of a span's attribute.
package enum SpanValue: Sendable, Equatable {
    case text(String)
    case number(Int64)
}

/// A span that is over.
package struct FinishedSpan: Sendable {
    package let name: String
    package let kind: SpanKind
    package let context: SpanContext
    /// `nil` for the root span of a trace.
    package let parent: SpanContext?
    package let startedAtUnixNanoseconds: UInt64
    /// Never before the start, even if the wall clock was set back.
    package let endedAtUnixNanoseconds: UInt64
    package var attributes: [String: SpanValue] = [:]
    var hasFailed = false
    var failureMessage: String?

    init(
        _ name: String, _ kind: SpanKind, _ context: SpanContext, below parent: SpanContext?, from begun: UInt64,
        to end: UInt64
    ) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        startedAtUnixNanoseconds = begun
        endedAtUnixNanoseconds = max(begun, end)
    }

    /// Notes that what the span is about has failed.
    ///
    /// - Parameter type: OpenTelemetry's `error.type`.
    mutating func fail(_ type: String, message: String? = nil) {
        attributes["error.type"] = .text(type)
        hasFailed = true
        failureMessage = message
    }
}
