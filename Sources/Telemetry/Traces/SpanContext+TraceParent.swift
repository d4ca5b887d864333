private import Bytes

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
