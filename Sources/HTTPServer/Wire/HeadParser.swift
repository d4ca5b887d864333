/// Parses the head of a request, line by line as it comes in (RFC 9112, sections 2 to 5).
struct HeadParser {
    private let maximumLength: Int
    private var requestLine: RequestLine?
    private var fields: [FieldLine] = []
    /// Where the line begins that is not there yet, counted from the head's first byte.
    private var position = 0
    private var lineSearch = LineSearch()

    static let maximumFields = 100

    init(maximumLength: Int) { self.maximumLength = maximumLength }

    /// Takes a head from the beginning of what has come in.
    ///
    /// - Parameter bytes: all that has come in since the last request's end.
    /// - Returns: the head and its length; `nil` where it is not all there.
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
        // What is wrong with the last line that there is room for is seen even if it has no end.
        guard lineSearch.mayEnd(in: bytes) || bytes.count == maximumLength else { return false }
        while let line = try nextLine(bytes) {
            // Blank lines before a request are passed over (RFC 9112, section 2.2).
            if line == .blank, requestLine != nil { return true }
        }
        lineSearch.searched = bytes.count
        return false
    }

    private enum Line { case blank, request, field }

    /// Takes one line; `nil` where it is not all there.
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
            // What nearly every request has, in one go.
            fields.reserveCapacity(12)
            return requestLine == nil ? nil : .request
        }
        guard let field = try FieldLine(in: bytes, at: &position) else { return nil }
        guard fields.count < Self.maximumFields else { throw .headersTooLarge }
        fields.append(field)
        return .field
    }
}

/// Looks for the end of a line in bytes that come in piece by piece, at each byte once: who sends one byte at a time must
/// not have us read the line from its start each time.
struct LineSearch {
    /// Where to go on; 0 where nothing has been looked at.
    var searched = 0

    /// Whether there may be a line's end among the bytes that have not been looked at.
    mutating func mayEnd(in bytes: Span<UInt8>) -> Bool {
        guard searched > 0 else { return true }
        return end(in: bytes) != nil
    }

    /// Where the first line feed stands among the bytes that have not been looked at.
    mutating func end(in bytes: Span<UInt8>) -> Int? {
        while searched < bytes.count {
            if bytes[searched] == .lineFeed { return searched }
            searched += 1
        }
        return nil
    }
}
