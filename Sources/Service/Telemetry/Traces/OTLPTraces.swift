internal import JOSE
package import Tracing

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
                    json.writeAttributes(resource.attributes.map { ($0.name, .string($0.value)) })
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
        member("kind", span.kind.number)
        member("startTimeUnixNano", String(span.startedAtUnixNanoseconds))
        member("endTimeUnixNano", String(span.endedAtUnixNanoseconds))
        writeAttributes(span.attributes.sorted)
        if let status = span.status {
            object("status") { json in
                if let message = status.message { json.member("message", message) }
                json.member("code", status.code == .error ? 2 : 1)
            }
        }
    }

    /// Flag: it is known whether the parent is remote.
    private static let knowsParent: Int64 = 0x100
    /// Flag: the parent is remote.
    private static let remoteParent: Int64 = 0x200

    fileprivate mutating func writeAttributes(_ attributes: [(name: String, value: SpanAttribute)]) {
        guard !attributes.isEmpty else { return }
        objects("attributes", attributes) { json, attribute in
            json.member("key", attribute.name)
            json.object("value") { $0.write(attribute.value) }
        }
    }

    /// Writes the member of an `AnyValue`. Assay's attributes are strings and integers; other types are exported as
    /// strings.
    private mutating func write(_ value: SpanAttribute) {
        switch value {
        case .string(let text): member("stringValue", text)
        case .int32(let integer): member("intValue", String(integer))
        case .int64(let integer): member("intValue", String(integer))
        default: member("stringValue", String(describing: value))
        }
    }
}

extension SpanAttributes {
    /// By name, so that the output is deterministic.
    fileprivate var sorted: [(name: String, value: SpanAttribute)] {
        var all: [(name: String, value: SpanAttribute)] = []
        forEach { all.append(($0, $1)) }
        return all.sorted { $0.name < $1.name }
    }
}

extension SpanKind {
    /// The kind's number in OTLP.
    fileprivate var number: Int64 {
        switch self {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

/// A finished span, ready for export.
package struct FinishedSpan: Sendable {
    package let context: SpanContext
    /// `nil` for the root span of a trace.
    package let parent: SpanContext?
    package let kind: SpanKind
    package let startedAtUnixNanoseconds: UInt64
    package fileprivate(set) var endedAtUnixNanoseconds: UInt64
    package var name: String
    package var attributes: SpanAttributes = [:]
    /// `nil`: unset.
    package var status: SpanStatus?

    /// A span that has started but not finished.
    init(_ name: String, _ kind: SpanKind, _ context: SpanContext, below parent: SpanContext?, at begun: UInt64) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        startedAtUnixNanoseconds = begun
        endedAtUnixNanoseconds = begun
    }

    /// The same span, finished. The end is never before the start, even if the wall clock was set back.
    func ended(at time: UInt64) -> FinishedSpan {
        var span = self
        span.endedAtUnixNanoseconds = max(time, startedAtUnixNanoseconds)
        return span
    }
}
