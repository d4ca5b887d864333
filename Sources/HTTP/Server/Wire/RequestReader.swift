private import Bytes

/// Parses the requests of a connection one by one, incrementally as their bytes arrive.
///
/// Pure: bytes in, requests out. The result does not depend on how the bytes are split.
package struct RequestReader {
    private let maximumHeader: Int
    private var headParser: HeadParser
    private var part = Part.head
    private var chunks = ChunkedBody()
    /// The part of a body of known length that has arrived, if it did not arrive at once.
    private var piece: [UInt8] = []

    private enum Part {
        case head
        case body(Framing.Body)
    }

    package enum Step {
        case head(RequestHead)
        /// The body of the current request; the next bytes belong to another request.
        case end(body: [UInt8])
    }

    package init(maximumHeader: Int) {
        self.maximumHeader = maximumHeader
        headParser = HeadParser(maximumLength: maximumHeader)
    }

    /// The number of bytes of an incomplete body.
    var heldBytes: Int { chunks.bytes.count + piece.count }

    /// Takes the next step.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes that have not been consumed.
    ///   - bodyLimit: the limit for the current request's body, in bytes.
    /// - Returns: the step, or `nil` if more bytes are needed; and the number of bytes consumed.
    /// - Throws: ``HTTPFault``; nothing after it may be read.
    package mutating func next(_ bytes: Span<UInt8>, bodyLimit: Int) throws(HTTPFault) -> (step: Step?, taken: Int) {
        switch part {
        case .head:
            guard let (head, length) = try headParser.parse(bytes) else { return (nil, 0) }
            headParser = HeadParser(maximumLength: maximumHeader)
            part = .body(head.framing.body)
            return (.head(head), length)
        case .body(.length(let length)):
            guard length <= bodyLimit else { throw .bodyTooLarge }
            let taken = min(length - piece.count, bytes.count)
            guard piece.count + taken == length else {
                keep(bytes.extracting(..<taken), ofLength: length)
                return (nil, taken)
            }
            part = .head
            if piece.isEmpty { return (.end(body: bytes.copied(..<length)), length) }
            keep(bytes.extracting(..<taken), ofLength: length)
            var body: [UInt8] = []
            swap(&body, &piece)
            return (.end(body: body), taken)
        case .body(.chunked):
            let (body, taken) = try chunks.read(bytes, limit: bodyLimit, maximumOverhead: maximumHeader)
            guard let body else { return (nil, taken) }
            chunks = ChunkedBody()
            part = .head
            return (.end(body: body), taken)
        }
    }

    /// Appends a piece of a body. Memory for the whole body is reserved only once a quarter of it has arrived, because
    /// the announced length may be wrong.
    private mutating func keep(_ bytes: Span<UInt8>, ofLength length: Int) {
        let needed = piece.count + bytes.count
        if piece.capacity < needed { piece.reserveCapacity(min(length, 4 * needed)) }
        unsafe bytes.withUnsafeBufferPointer { unsafe piece.append(contentsOf: $0) }
    }
}

/// Parses the head of a request line by line as it arrives (RFC 9112, sections 2 to 5).
struct HeadParser {
    private let maximumLength: Int
    private var requestLine: RequestLine?
    private var fields: [FieldLine] = []
    /// The start of the first incomplete line, relative to the head's first byte.
    private var position = 0
    private var lineSearch = LineSearch()

    static let maximumFields = 100

    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// Parses a head at the start of the input.
    ///
    /// - Parameter bytes: everything received since the last request's end.
    /// - Returns: the head and its length; `nil` if it is not complete.
    /// - Throws: ``HTTPFault/malformed``, ``HTTPFault/headersTooLarge``.
    mutating func parse(_ bytes: Span<UInt8>) throws(HTTPFault) -> (head: RequestHead, length: Int)? {
        let isWhole = try parseLines(bytes.extracting(..<min(bytes.count, maximumLength)))
        guard isWhole, let requestLine else {
            guard bytes.count < maximumLength else { throw .headersTooLarge }
            return nil
        }
        return (try RequestHead(requestLine, fields, text: bytes.copied(..<position)), position)
    }

    private mutating func parseLines(_ bytes: Span<UInt8>) throws(HTTPFault) -> Bool {
        // The last line that fits into the limit is validated even if it has no end.
        guard lineSearch.mayEnd(in: bytes) || bytes.count == maximumLength else { return false }
        while let line = try nextLine(bytes) {
            // Blank lines before a request are skipped (RFC 9112, section 2.2).
            if line == .blank, requestLine != nil { return true }
        }
        lineSearch.searched = bytes.count
        return false
    }

    private enum Line { case blank, request, field }

    /// Parses one line; `nil` if it is not complete.
    private mutating func nextLine(_ bytes: Span<UInt8>) throws(HTTPFault) -> Line? {
        guard position < bytes.count else { return nil }
        if bytes[position] == .carriageReturn {
            guard position + 1 < bytes.count else { return nil }
            guard bytes[position + 1] == .lineFeed else { throw .malformed }
            position += 2
            return .blank
        }
        guard requestLine != nil else {
            requestLine = try RequestLine(in: bytes, at: &position)
            // Enough for nearly every request, with one allocation.
            fields.reserveCapacity(12)
            return requestLine == nil ? nil : .request
        }
        guard let field = try FieldLine(in: bytes, at: &position) else { return nil }
        guard fields.count < Self.maximumFields else { throw .headersTooLarge }
        fields.append(field)
        return .field
    }
}

/// Searches for the end of a line in bytes that arrive piece by piece, looking at each byte only once: otherwise a
/// client that sends one byte at a time would cause quadratic work.
struct LineSearch {
    /// Where to continue; 0 if nothing has been searched.
    var searched = 0

    /// Whether the bytes that have not been searched may contain a line's end.
    fileprivate mutating func mayEnd(in bytes: Span<UInt8>) -> Bool {
        guard searched > 0 else { return true }
        return end(in: bytes) != nil
    }

    /// The index of the first line feed among the bytes that have not been searched.
    mutating func end(in bytes: Span<UInt8>) -> Int? {
        while searched < bytes.count {
            if bytes[searched] == .lineFeed { return searched }
            searched += 1
        }
        return nil
    }
}

/// The first line of a request (RFC 9112, section 3).
struct RequestLine: Sendable {
    let method: RequestMethod
    /// The target's path, without a query, also for an absolute-form target (section 3.2.2).
    let path: HeadRange
    /// Whether the version is HTTP/1.0 rather than HTTP/1.1.
    let isHTTP10: Bool

    /// Parses the line at `start`, and moves `start` after its end.
    ///
    /// - Returns: `nil` if the line is not complete.
    /// - Throws: ``HTTPFault/malformed`` unless it is a request of HTTP/1.0 or HTTP/1.1.
    init?(in bytes: Span<UInt8>, at start: inout Int) throws(HTTPFault) {
        var index = start
        while index < bytes.count, bytes[index].isTokenCharacter { index += 1 }
        guard index < bytes.count else { return nil }
        guard bytes[index] == UInt8(ascii: " "), let method = RequestMethod(bytes.extracting(start..<index)) else {
            throw .malformed
        }
        let targetStart = index + 1
        index = targetStart
        // The route validates the rest.
        while index < bytes.count, bytes[index].isVisibleASCII { index += 1 }
        guard index < bytes.count else { return nil }
        guard bytes[index] == UInt8(ascii: " ") else { throw .malformed }
        let target = targetStart..<index
        guard let path = Self.path(ofTarget: bytes.extracting(target), method) else { throw .malformed }

        let version = bytes.extracting((index + 1)..<bytes.count)
        guard version.count >= 10 else {
            // Another protocol is rejected before its line is complete.
            guard version.isPrefix(of: "HTTP/1.1\r\n") || version.isPrefix(of: "HTTP/1.0\r\n") else { throw .malformed }
            return nil
        }
        if version.extracting(..<10).equals("HTTP/1.1\r\n") {
            isHTTP10 = false
        } else if version.extracting(..<10).equals("HTTP/1.0\r\n") {
            isHTTP10 = true
        } else {
            throw .malformed
        }
        self.method = method
        self.path = HeadRange((targetStart + path.lowerBound)..<(targetStart + path.upperBound))
        start = index + 11
    }

    /// The location of the path in a target; `nil` if the target has none of HTTP's forms (RFC 9112, section 3.2).
    private static func path(ofTarget target: Span<UInt8>, _ method: RequestMethod) -> Range<Int>? {
        guard !target.isEmpty else { return nil }
        if method == .connect { return target.isHost ? target.indices : nil }
        if target[0] == UInt8(ascii: "/") { return 0..<(target.firstIndex(of: UInt8(ascii: "?")) ?? target.count) }
        if method == .options, target.equals("*") { return target.indices }
        guard target[0].isLetter else { return nil }
        var index = 0
        while index < target.count, target[index].isSchemeCharacter { index += 1 }
        let authority = index + 3
        guard authority <= target.count, target.extracting(index..<authority).equals("://") else { return nil }
        let end = target.firstIndex(of: UInt8(ascii: "?"), from: authority) ?? target.count
        let path = min(target.firstIndex(of: UInt8(ascii: "/"), from: authority) ?? end, end)
        // An http URL must have a host (RFC 9110, section 4.2.1).
        guard path > authority, target.extracting(authority..<path).isHost else { return nil }
        return path..<end
    }
}

extension UInt8 {
    /// The characters of a URL's scheme (RFC 3986, section 3.1).
    fileprivate var isSchemeCharacter: Bool {
        isLetterOrDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }
}

extension Span<UInt8> {
    fileprivate func isPrefix(of text: StaticString) -> Bool {
        guard count <= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            for index in indices where unsafe self[index] != text[index] { return false }
            return true
        }
    }
}

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

extension UInt8 {
    /// The characters of field values: visible characters, spaces, tabs, and bytes beyond ASCII (RFC 9110, section
    /// 5.5).
    var isFieldCharacter: Bool { self >= 0x20 && self != 0x7f || self == UInt8(ascii: "\t") }

    /// The characters of hosts and ports (RFC 3986, section 3.2.2).
    var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "#"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: isTokenCharacter
        }
    }

    static var lineFeed: UInt8 { 0x0a }
    static var carriageReturn: UInt8 { 0x0d }
}
