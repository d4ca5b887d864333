/// A field line (RFC 9112, section 5): where its name and its value lie, white space around the value left out.
struct FieldLine: Sendable {
    let name: HeadRange
    let value: HeadRange

    init(name: Range<Int>, value: Range<Int>) {
        self.name = HeadRange(name)
        self.value = HeadRange(value)
    }

    /// Reads the line that begins at `start`, and moves `start` behind its end.
    ///
    /// No space before the colon, no folded line, no line that ends in less than CR LF: what two readers might see
    /// differently is refused (RFC 9112, sections 2.2, 5.1 and 5.2).
    ///
    /// - Returns: `nil` where the line is not all there.
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
