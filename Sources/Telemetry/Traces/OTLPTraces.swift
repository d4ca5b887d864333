internal import JSON
internal import Tracing

/// Spans as the OpenTelemetry Protocol has them in JSON: an `ExportTraceServiceRequest` (OTLP 1, JSON Protobuf
/// Encoding).
///
/// Ids are in hexadecimal, 64-bit integers are strings, and enumerations numbers.
struct OTLPTraces {
    let resource: TraceResource

    /// The JSON text of one request.
    func json(_ spans: [FinishedSpan]) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 1024 + spans.count * 1024)
        json.beginObject()
        json.beginArray(named: "resourceSpans")
        json.beginObject()
        json.name("resource")
        json.beginObject()
        json.writeAttributes(resource.attributes.map { ($0.name, .string($0.value)) })
        json.endObject()
        json.beginArray(named: "scopeSpans")
        json.beginObject()
        json.name("scope")
        json.beginObject()
        json.member("name", "assay")
        json.member("version", resource.serviceVersion)
        json.endObject()
        json.beginArray(named: "spans")
        for span in spans { json.write(span) }
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ span: FinishedSpan) {
        beginObject()
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
        if !span.events.isEmpty {
            beginArray(named: "events")
            for event in span.events {
                beginObject()
                member("timeUnixNano", String(event.nanosecondsSinceEpoch))
                member("name", event.name)
                writeAttributes(event.attributes.sorted)
                endObject()
            }
            endArray()
        }
        if !span.links.isEmpty {
            beginArray(named: "links")
            for link in span.links {
                guard let linked = link.context.span else { continue }
                beginObject()
                member("traceId", linked.traceID.text)
                member("spanId", linked.spanID.text)
                writeAttributes(link.attributes.sorted)
                endObject()
            }
            endArray()
        }
        if let status = span.status {
            name("status")
            beginObject()
            if let message = status.message { member("message", message) }
            member("code", status.code == .error ? 2 : 1)
            endObject()
        }
        endObject()
    }

    /// Of the flags: that it is known whether the parent is of another process.
    private static let knowsParent: Int64 = 0x100
    /// Of the flags: that it is.
    private static let remoteParent: Int64 = 0x200

    fileprivate mutating func beginArray(named name: StaticString) {
        self.name(name)
        beginArray()
    }

    fileprivate mutating func writeAttributes(_ attributes: [(name: String, value: SpanAttribute)]) {
        guard !attributes.isEmpty else { return }
        beginArray(named: "attributes")
        for attribute in attributes {
            beginObject()
            member("key", attribute.name)
            name("value")
            write(attribute.value)
            endObject()
        }
        endArray()
    }

    /// Writes an `AnyValue`.
    private mutating func write(_ value: SpanAttribute) {
        beginObject()
        switch value {
        case .string(let text): member("stringValue", text)
        case .bool(let bool): member("boolValue", bool)
        case .int32(let integer): member("intValue", String(integer))
        case .int64(let integer): member("intValue", String(integer))
        case .double(let number):
            name("doubleValue")
            write(number)
        case .stringArray(let texts): writeArray(texts.map { .string($0) })
        case .boolArray(let bools): writeArray(bools.map { .bool($0) })
        case .int32Array(let integers): writeArray(integers.map { .int32($0) })
        case .int64Array(let integers): writeArray(integers.map { .int64($0) })
        case .doubleArray(let numbers): writeArray(numbers.map { .double($0) })
        case .stringConvertible(let value): member("stringValue", String(describing: value))
        case .stringConvertibleArray(let values): writeArray(values.map { .string(String(describing: $0)) })
        default: break
        }
        endObject()
    }

    private mutating func writeArray(_ values: [SpanAttribute]) {
        name("arrayValue")
        beginObject()
        beginArray(named: "values")
        for value in values { write(value) }
        endArray()
        endObject()
    }

    /// JSON has no number that is none, nor one without end; Protobuf has names for them.
    private mutating func write(_ number: Double) {
        if number.isNaN {
            value("NaN")
        } else if number.isInfinite {
            value(number < 0 ? "-Infinity" : "Infinity")
        } else {
            raw(Array(number.description.utf8)[...])
        }
    }
}

extension SpanAttributes {
    /// By name, so that the same span is always the same text.
    fileprivate var sorted: [(name: String, value: SpanAttribute)] {
        var all: [(name: String, value: SpanAttribute)] = []
        forEach { all.append(($0, $1)) }
        return all.sorted { $0.name < $1.name }
    }
}

extension SpanKind {
    /// The number that OTLP has for it.
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
