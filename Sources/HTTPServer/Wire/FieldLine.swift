private import Bytes

/// A field line (RFC 9112, section 5): the locations of its name and its value, without white space around the value.
struct FieldLine: Sendable {
    let name: HeadRange
    let value: HeadRange

    init(name: Range<Int>, value: Range<Int>) {
        self.name = HeadRange(name)
        self.value = HeadRange(value)
    }

    /// Parses the line at `start`, and moves `start` after its end.
    ///
    /// A space before the colon, a folded line and a line end other than CR LF are rejected, because parsers interpret
    /// them differently (RFC 9112, sections 2.2, 5.1 and 5.2).
    ///
    /// - Returns: `nil` if the line is not complete.
    /// - Throws: ``HTTPFault/malformed``.
    init?(in bytes: Span<UInt8>, at start: inout Int) throws(HTTPFault) {
        var index = start
        while index < bytes.count, bytes[index].isTokenCharacter { index += 1 }
        guard index < bytes.count else { return nil }
        guard index > start, bytes[index] == UInt8(ascii: ":") else { throw .malformed }
        let name = start..<index
        index += 1
        while index < bytes.count, bytes[index].isBlank { index += 1 }
        let valueStart = index
        while index < bytes.count, bytes[index].isFieldCharacter { index += 1 }
        guard index < bytes.count else { return nil }
        guard bytes[index] == .carriageReturn else { throw .malformed }
        guard index + 1 < bytes.count else { return nil }
        guard bytes[index + 1] == .lineFeed else { throw .malformed }
        var valueEnd = index
        while valueEnd > valueStart, bytes[valueEnd - 1].isBlank { valueEnd -= 1 }
        self.init(name: name, value: valueStart..<valueEnd)
        start = index + 2
    }
}
