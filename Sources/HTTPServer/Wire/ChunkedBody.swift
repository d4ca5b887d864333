private import Bytes

/// Puts a body together from its chunks as they come in (RFC 9112, section 7.1).
///
/// Extensions and trailers are checked for their form and dropped: nothing in them may change what the head has said.
struct ChunkedBody {
    private(set) var bytes: [UInt8] = []
    private var part = Part.size
    private var lineSearch = LineSearch()
    /// Bytes that were neither body nor needed for it: who sends many of these sends no body.
    private var overhead = 0
    private var trailers = 0

    private enum Part {
        /// The line with the size of the next chunk.
        case size
        /// So many octets of a chunk are still to come.
        case data(Int)
        /// The line end behind a chunk.
        case dataEnd
        case trailers
        case end
    }

    /// Takes what has come in, as far as the body's end.
    ///
    /// - Parameters:
    ///   - limit: of the body's octets.
    ///   - maximumOverhead: of the octets of extensions and trailers.
    /// - Returns: how many bytes were taken, and the whole body, or `nil` where it is not all there.
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

    /// Takes one part, and returns how many bytes it has; `nil` where it is not all there.
    private mutating func readPart(
        _ input: Span<UInt8>, _ limit: Int, _ maximumOverhead: Int
    ) throws(HTTPFault) -> Int? {
        switch part {
        case .size:
            // Sixteen digits and a carriage return are what any size may need.
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
            // What is no line end is seen at once.
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

    /// Whether bytes start with a line end; `false` where they may be on their way to it.
    private func startsWithLineEnd(_ bytes: Span<UInt8>) throws(HTTPFault) -> Bool {
        guard bytes.count > 0 else { return false }
        guard bytes[0] == .carriageReturn else { throw .malformed }
        guard bytes.count > 1 else { return false }
        guard bytes[1] == .lineFeed else { throw .malformed }
        return true
    }

    /// Where the line feed of the next line stands. What a line has beyond what it needs is overhead, whether or not the line
    /// is all there: the same bytes must come to the same, however they are cut.
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

    /// Whether a line is a trailer, and not the end of the body. One that would say where a request ends, or what
    /// becomes of the connection, is refused: others read it as if it stood in the head.
    private func isTrailer(_ line: Span<UInt8>) throws(HTTPFault) -> Bool {
        if line.equals("\r\n") { return false }
        var start = 0
        guard let field = try FieldLine(in: line, at: &start), start == line.count else { throw .malformed }
        guard FramingField(line.extracting(field.name.indices)) == nil else { throw .malformed }
        return true
    }
}

/// The size in the line before a chunk, at most `Int.max`; extensions behind it are passed over.
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

/// Passes over `;name`, `;name=token` or `;name="quoted string"`.
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
