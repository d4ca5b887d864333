private import Bytes

/// Assembles a body from its chunks as they arrive (RFC 9112, section 7.1).
///
/// Extensions and trailers are validated and discarded: they can't change anything about the request.
struct ChunkedBody {
    private(set) var bytes: [UInt8] = []
    private var part = Part.size
    private var lineSearch = LineSearch()
    /// Bytes beyond the body and its necessary framing. They are limited, because many of them only waste resources.
    private var overhead = 0
    private var trailers = 0

    private enum Part {
        /// The line with the size of the next chunk.
        case size
        /// The number of bytes of a chunk that have not arrived.
        case data(Int)
        /// The line end after a chunk.
        case dataEnd
        case trailers
        case end
    }

    /// Consumes input up to the body's end.
    ///
    /// - Parameters:
    ///   - limit: for the bytes of the body.
    ///   - maximumOverhead: for the bytes of extensions and trailers.
    /// - Returns: the number of bytes consumed, and the complete body, or `nil` if it is not complete.
    /// - Throws: ``HTTPFault/malformed``, ``HTTPFault/bodyTooLarge``, ``HTTPFault/headersTooLarge``.
    mutating func read(
        _ input: Span<UInt8>, limit: Int, maximumOverhead: Int
    ) throws(HTTPFault) -> (body: [UInt8]?, taken: Int) {
        var taken = 0
        while let length = try readPart(input.extracting(taken...), limit, maximumOverhead) {
            taken += length
            if case .end = part { return (bytes, taken) }
        }
        return (nil, taken)
    }

    /// Consumes one part and returns its length in bytes; `nil` if it is not complete.
    private mutating func readPart(
        _ input: Span<UInt8>, _ limit: Int, _ maximumOverhead: Int
    ) throws(HTTPFault) -> Int? {
        switch part {
        case .size:
            // Any size fits into sixteen digits and a carriage return.
            guard let line = try nextLine(input, needed: 17, maximumOverhead) else { return nil }
            let octets = try chunkSize(input.extracting(..<line))
            guard octets <= limit - bytes.count else { throw .bodyTooLarge }
            part = octets == 0 ? .trailers : .data(octets)
            return line + 1
        case .data(let left):
            let count = min(left, input.count)
            guard count > 0 else { return nil }
            bytes += input.copied(..<count)
            part = left > count ? .data(left - count) : .dataEnd
            return count
        case .dataEnd:
            // A wrong line end is reported at once.
            guard try startsWithLineEnd(input) else { return nil }
            part = .size
            return 2
        case .trailers:
            guard let line = try nextLine(input, needed: 0, maximumOverhead) else { return nil }
            if try isTrailer(input.extracting(...line)) {
                trailers += 1
                guard trailers <= HeadParser.maximumFields else { throw .headersTooLarge }
            } else {
                part = .end
            }
            return line + 1
        case .end: return nil
        }
    }

    /// Whether bytes start with a line end; `false` if they may be an incomplete one.
    private func startsWithLineEnd(_ bytes: Span<UInt8>) throws(HTTPFault) -> Bool {
        guard bytes.count > 0 else { return false }
        guard bytes[0] == .carriageReturn else { throw .malformed }
        guard bytes.count > 1 else { return false }
        guard bytes[1] == .lineFeed else { throw .malformed }
        return true
    }

    /// The index of the next line feed. Bytes of a line beyond `needed` are overhead, whether or not the line is
    /// complete: the result must not depend on how the bytes are split.
    ///
    /// - Throws: ``HTTPFault/headersTooLarge``.
    private mutating func nextLine(
        _ bytes: Span<UInt8>, needed: Int, _ maximumOverhead: Int
    ) throws(HTTPFault) -> Int? {
        let end = lineSearch.end(in: bytes)
        let ofLine = max(0, (end ?? lineSearch.searched) - needed)
        guard overhead + ofLine <= maximumOverhead else { throw .headersTooLarge }
        guard let end else { return nil }
        overhead += ofLine
        lineSearch = LineSearch()
        return end
    }

    /// Whether a line is a trailer rather than the end of the body. Fields about framing or the connection are
    /// rejected, because other parsers may merge them into the head.
    private func isTrailer(_ line: Span<UInt8>) throws(HTTPFault) -> Bool {
        if line.equals("\r\n") { return false }
        var start = 0
        guard let field = try FieldLine(in: line, at: &start), start == line.count else { throw .malformed }
        guard FramingField(line.extracting(field.name.indices)) == nil else { throw .malformed }
        return true
    }
}

/// The size in the line before a chunk, at most `Int.max`; extensions after it are skipped.
///
/// - Parameter line: without its line feed.
/// - Throws: ``HTTPFault/malformed``.
private func chunkSize(_ line: Span<UInt8>) throws(HTTPFault) -> Int {
    guard line.count > 0, line[line.count - 1] == .carriageReturn else { throw .malformed }
    let line = line.extracting(..<(line.count - 1))
    var number: UInt64 = 0
    var index = 0
    while index < line.count, let digit = line[index].hexadecimalValue {
        guard number >> 60 == 0 else { throw .malformed }
        number = number << 4 | UInt64(digit)
        index += 1
    }
    guard index > 0 else { throw .malformed }
    while index < line.count { try passExtension(line, &index) }
    return Int(clamping: number)
}

/// Skips `;name`, `;name=token` or `;name="quoted string"`.
private func passExtension(_ line: Span<UInt8>, _ index: inout Int) throws(HTTPFault) {
    guard line[index] == UInt8(ascii: ";") else { throw .malformed }
    index += 1
    try passToken(line, &index)
    guard index < line.count, line[index] == UInt8(ascii: "=") else { return }
    index += 1
    guard index < line.count, line[index] == UInt8(ascii: "\"") else { return try passToken(line, &index) }
    index += 1
    while index < line.count, line[index] != UInt8(ascii: "\"") {
        if line[index] == UInt8(ascii: "\\") { index += 1 }
        guard index < line.count, line[index].isFieldCharacter else { throw .malformed }
        index += 1
    }
    guard index < line.count else { throw .malformed }
    index += 1
}

private func passToken(_ line: Span<UInt8>, _ index: inout Int) throws(HTTPFault) {
    let start = index
    while index < line.count, line[index].isTokenCharacter { index += 1 }
    guard index > start else { throw .malformed }
}
