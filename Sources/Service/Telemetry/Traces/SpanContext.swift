private import Bytes

/// Identifies a span to other systems: its trace, its ID, and the trace's flags and state.
package struct SpanContext: Sendable, Hashable {
    package let traceID: TraceID
    package let spanID: SpanID
    package let flags: TraceFlags
    /// The `tracestate` that other systems have added; `nil` if there is none to propagate.
    package var state: String?
    /// Whether the context was received from another process.
    package let isRemote: Bool

    package init(
        traceID: TraceID, spanID: SpanID, flags: TraceFlags, state: String? = nil, isRemote: Bool = false
    ) {
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
        self.state = state
        self.isRemote = isRemote
    }

    var isSampled: Bool { flags.contains(.sampled) }
}

extension SpanContext {
    /// Reads the value of a `traceparent` header field: `00-<trace-id>-<parent-id>-<trace-flags>`.
    ///
    /// Digits must be lower-case, IDs not 0, and the version not `ff`. Of later versions, the known fields are read;
    /// they must end the text or be followed by `-` (W3C Trace Context, 3.2.2 and 4.3). Allocates nothing.
    ///
    /// - Returns: `nil` for anything else, which must be treated as absent.
    package init?(traceParent text: Span<UInt8>) {
        guard text.count >= Self.lengthOfVersion00, let version = text.hexadecimal(at: 0, digits: 2), version != 0xff,
            text.count == Self.lengthOfVersion00 || (version > 0 && text[Self.lengthOfVersion00] == Self.dash),
            text[2] == Self.dash, text[35] == Self.dash, text[52] == Self.dash,
            let high = text.hexadecimal(at: 3, digits: 16), let low = text.hexadecimal(at: 19, digits: 16),
            let parent = text.hexadecimal(at: 36, digits: 16), let flags = text.hexadecimal(at: 53, digits: 2),
            let traceID = TraceID(high: high, low: low), let spanID = SpanID(parent)
        else { return nil }
        let known = TraceFlags([.sampled, .random]).intersection(TraceFlags(rawValue: UInt8(truncatingIfNeeded: flags)))
        self.init(traceID: traceID, spanID: spanID, flags: known, isRemote: true)
    }

    private static let lengthOfVersion00 = 55
    private static let dash = UInt8(ascii: "-")
}

extension Span<UInt8> {
    /// Reads up to 16 lower-case hexadecimal digits; `nil` if there are other characters.
    fileprivate func hexadecimal(at start: Int, digits: Int) -> UInt64? {
        var number: UInt64 = 0
        for index in start..<(start + digits) {
            guard self[index].isLowercaseHexadecimal, let digit = self[index].hexadecimalValue else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}

/// Reads `tracestate`, which the systems along a trace extend (W3C Trace Context, 3.3).
package enum TraceState {
    private static let maximumMembers = 32
    /// In bytes: the least that the specification requires systems to propagate.
    private static let maximumLength = 512

    /// The members of all `tracestate` fields, as one list.
    ///
    /// - Returns: `nil` if there are none, if any is malformed or repeated, or if they are too many or too long. The
    ///   trace then continues without them.
    package static func text(_ fields: [String]) -> String? {
        var keys: Set<Substring> = []
        var members: [Substring] = []
        for field in fields {
            for part in field.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let member = Substring(part).trimming { $0 == " " || $0 == "\t" }
                // Empty members are allowed and ignored.
                guard !member.isEmpty else { continue }
                guard let key = key(of: member), keys.insert(key).inserted else { return nil }
                members.append(member)
            }
        }
        guard (1...maximumMembers).contains(members.count) else { return nil }
        let text = members.joined(separator: ",")
        return text.utf8.count <= maximumLength ? text : nil
    }

    /// The key of a member `key=value`; `nil` if it is malformed.
    private static func key(of member: Substring) -> Substring? {
        guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = member[..<equals]
        let value = member.utf8[equals...].dropFirst()
        guard let first = key.utf8.first, isLetterOrDigit(first), key.utf8.count <= 256,
            key.utf8.allSatisfy(isKeyCharacter),
            (1...256).contains(value.count), value.allSatisfy(isValueCharacter)
        else { return nil }
        return key
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte.isDigit
    }

    private static func isKeyCharacter(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "_-*/@".utf8.contains(byte) }

    /// Spaces at the end of a value have already been trimmed.
    private static func isValueCharacter(_ byte: UInt8) -> Bool {
        byte.isPrintableASCII && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "=")
    }
}

/// The ID of a trace: 16 octets, not all 0 (W3C Trace Context, 3.2.2.3).
package struct TraceID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    /// `nil` if all octets are 0, which is not a valid ID.
    package init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// 32 lower-case hexadecimal digits.
    package var text: String { String(hexadecimal: high, low) }
}

/// The ID of a span within its trace: 8 octets, not all 0 (W3C Trace Context, 3.2.2.4).
package struct SpanID: Sendable, Hashable {
    let value: UInt64

    /// `nil` for 0, which is not a valid ID.
    package init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// 16 lower-case hexadecimal digits.
    package var text: String { String(hexadecimal: value) }
}

/// The flags of a trace (W3C Trace Context, 3.2.2.5).
package struct TraceFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The trace is recorded.
    static let sampled = TraceFlags(rawValue: 1)
    /// The last 7 octets of the trace ID are random (level 2).
    package static let random = TraceFlags(rawValue: 2)

    /// Two hexadecimal digits.
    package var text: String { (rawValue < 16 ? "0" : "") + String(rawValue, radix: 16) }
}
