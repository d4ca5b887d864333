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
    mutating func mayEnd(in bytes: Span<UInt8>) -> Bool {
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
