private import Bytes

/// How long the body is and whether the connection persists, as declared by the head.
///
/// - There must be exactly one valid `Host`; HTTP/1.0 may omit it (RFC 9112, section 3.2).
/// - The body's length is given at most once: by one `Content-Length`, or by the transfer coding `chunked`, which
///   HTTP/1.0 does not have (sections 6.1 to 6.3).
/// - There should be one `Content-Type` and one `Authorization` at most; see ``repeatedField``.
/// - `Upgrade` is ignored, as a server may (RFC 9110, section 7.8).
struct Framing: Sendable {
    enum Body: Sendable, Equatable {
        /// The length in bytes, at most `Int.max`; 0 if the head announces no body.
        case length(Int)
        case chunked
    }

    private(set) var body = Body.length(0)
    /// Whether `Connection` has the option `close`.
    private(set) var closes = false
    /// Whether the client waits for `100 Continue` before it sends the body.
    private(set) var expectsContinue = false
    /// `Content-Type` or `Authorization` if it occurs twice. Neither is a list, so a second one is an error (RFC 9110,
    /// section 5.3), and a proxy may use the other one.
    private(set) var repeatedField: StaticString?

    /// - Parameter head: the complete head that contains these field lines.
    /// - Throws: ``HTTPFault/malformed`` for a head that parsers could interpret differently.
    init(_ lines: [FieldLine], isHTTP10: Bool, _ head: [UInt8]) throws(HTTPFault) {
        var hosts = 0, lengths = 0, codings = 0
        // Counting names by length costs almost nothing; names are compared only if two have the same length.
        var namesOf12 = 0, namesOf13 = 0
        let bytes = head.span
        for line in lines {
            let nameLength = line.name.indices.count
            if nameLength == 12 { namesOf12 += 1 } else if nameLength == 13 { namesOf13 += 1 }
            let value = bytes.extracting(line.value.indices)
            switch FramingField(bytes.extracting(line.name.indices)) {
            case .host:
                hosts += 1
                guard value.isHost else { throw .malformed }
            case .contentLength:
                lengths += 1
                body = .length(try value.decimal())
            case .transferEncoding:
                codings += 1
                guard value.equals("chunked", ignoringCase: true) else { throw .malformed }
                body = .chunked
            case .connection: closes = closes || HeadSlice(line.value, of: head).lists("close")
            case .expect:
                expectsContinue =
                    expectsContinue || (!isHTTP10 && HeadSlice(line.value, of: head).lists("100-continue"))
            case nil: break
            }
        }
        guard hosts == 1 || (isHTTP10 && hosts == 0), lengths + codings <= 1, !isHTTP10 || codings == 0 else {
            throw .malformed
        }
        if namesOf12 > 1, Self.isRepeated("Content-Type", lines, bytes) { repeatedField = "Content-Type" }
        if namesOf13 > 1, Self.isRepeated("Authorization", lines, bytes) { repeatedField = "Authorization" }
    }

    private static func isRepeated(
        _ name: StaticString, _ lines: [FieldLine], _ head: borrowing Span<UInt8>
    ) -> Bool {
        var count = 0
        for line in lines where head.extracting(line.name.indices).equals(name, ignoringCase: true) { count += 1 }
        return count > 1
    }
}

/// A field that determines where a request ends, or what happens to its connection.
enum FramingField {
    case host, contentLength, transferEncoding, connection, expect

    init?(_ name: Span<UInt8>) {
        // The length distinguishes most names, and costs one comparison.
        switch name.count {
        case 4 where name.equals("Host", ignoringCase: true): self = .host
        case 6 where name.equals("Expect", ignoringCase: true): self = .expect
        case 10 where name.equals("Connection", ignoringCase: true): self = .connection
        case 14 where name.equals("Content-Length", ignoringCase: true): self = .contentLength
        case 17 where name.equals("Transfer-Encoding", ignoringCase: true): self = .transferEncoding
        default: return nil
        }
    }
}

extension Span<UInt8> {
    /// Whether all bytes may occur in a host with an optional port; true if there are none.
    var isHost: Bool {
        for index in indices where !self[index].isHostCharacter { return false }
        return true
    }

    /// An unsigned decimal number below 2⁶⁴; above `Int.max`, it becomes `Int.max`.
    ///
    /// - Throws: ``HTTPFault/malformed``.
    fileprivate func decimal() throws(HTTPFault) -> Int {
        guard !isEmpty else { throw .malformed }
        var number: UInt64 = 0
        for index in indices {
            guard self[index].isDigit else { throw .malformed }
            let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(UInt64(self[index] & 15))
            guard !overflow, !carry else { throw .malformed }
            number = sum
        }
        return Int(clamping: number)
    }
}

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

/// Why a request could not be read.
package enum HTTPFault: Error, Equatable {
    /// Neither HTTP/1.1 nor HTTP/1.0, or a form that parsers interpret differently.
    case malformed
    /// A field that must not be repeated was repeated, and parsers could use different ones.
    case repeatedField(String)
    /// The head exceeds its limits on bytes or fields, or a body's chunk extensions and trailers do.
    case headersTooLarge
    /// The body, or its declared length, exceeds the responder's limit.
    case bodyTooLarge
    /// Head or body did not arrive in time.
    case timeout
    /// A limit was exceeded.
    case overloaded(ListenerLimit)
}

/// A limit of a listener that connections and requests can exceed, by its name in settings and metrics.
package enum ListenerLimit: String, CaseIterable, Sendable {
    case connections = "max_connections"
    case inFlight = "max_in_flight"
    case buffered = "max_buffered"
}
