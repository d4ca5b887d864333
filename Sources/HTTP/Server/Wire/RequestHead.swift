private import Bytes

/// The head of one request, in a form that all parsers interpret the same way (see ``Framing``).
package struct RequestHead: Sendable {
    package let method: RequestMethod
    package let fields: HTTPFields
    private let pathRange: HeadRange
    let isHTTP10: Bool
    let framing: Framing

    /// - Parameter text: the complete head.
    /// - Throws: ``HTTPFault/malformed``.
    init(_ line: RequestLine, _ lines: [FieldLine], text: [UInt8]) throws(HTTPFault) {
        method = line.method
        fields = HTTPFields(lines, of: text)
        pathRange = line.path
        isHTTP10 = line.isHTTP10
        framing = try Framing(lines, isHTTP10: line.isHTTP10, text)
    }

    /// The approximate memory of the head in bytes.
    var size: Int { fields.head.count + fields.lines.count * MemoryLayout<FieldLine>.stride }

    /// The method as sent, also if ``method`` does not know it.
    package var methodName: String {
        guard method == .other else { return method.rawValue }
        let line = fields.head.drop { $0 == .carriageReturn || $0 == .lineFeed }
        return String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }

    /// The target's path as sent, without a query, also for an absolute-form target.
    package var path: HeadSlice { HeadSlice(pathRange, of: fields.head) }

    /// The target's query as sent, without its question mark; empty if there is none. It is searched for on each
    /// access, because few requests have one.
    package var query: HeadSlice {
        let (head, start) = (fields.head, pathRange.indices.upperBound)
        guard start < head.count, head[start] == UInt8(ascii: "?") else { return HeadSlice(HeadRange(0..<0), of: head) }
        let end = head[start...].firstIndex(of: UInt8(ascii: " ")) ?? head.count
        return HeadSlice(HeadRange((start + 1)..<end), of: head)
    }
}

/// A request's method (RFC 9110, section 9): those of the RFC and PATCH by name.
package enum RequestMethod: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case connect = "CONNECT"
    case options = "OPTIONS"
    case trace = "TRACE"
    case patch = "PATCH"
    /// Any other, such as those of WebDAV or of caches. Named as in OpenTelemetry.
    case other = "_OTHER"

    /// The method with this name, which is case-sensitive; `nil` if it is empty or too long.
    ///
    /// - Parameter name: a token (section 5.6.2).
    init?(_ name: Span<UInt8>) {
        // Nearly every request has one of these two; they need no string.
        if name.equals("POST") {
            self = .post
        } else if name.equals("GET") {
            self = .get
        } else {
            guard (1...Self.longestName).contains(name.count) else { return nil }
            var text = ""
            for index in name.indices { text.unicodeScalars.append(Unicode.Scalar(name[index])) }
            self = Self(rawValue: text) ?? .other
        }
    }

    /// Nearly twice the length of the longest in IANA's HTTP Method Registry.
    private static let longestName = 32
}

/// The header fields of one request, read in place.
package struct HTTPFields: Sendable {
    fileprivate let head: [UInt8]
    fileprivate let lines: [FieldLine]

    /// - Parameter head: the complete head that contains these field lines.
    init(_ lines: [FieldLine], of head: [UInt8]) {
        self.head = head
        self.lines = lines
    }

    /// The value of the first field with this name, ignoring case.
    package subscript(name: StaticString) -> HeadSlice? {
        for line in lines where isName(line, name) { return HeadSlice(line.value, of: head) }
        return nil
    }

    /// The value of the field with this name, if there is exactly one.
    package func only(_ name: StaticString) -> HeadSlice? {
        var found: HeadRange?
        for line in lines where isName(line, name) {
            guard found == nil else { return nil }
            found = line.value
        }
        return found.map { HeadSlice($0, of: head) }
    }

    /// The values of all fields with this name.
    package func all(_ name: StaticString) -> [HeadSlice] {
        lines.filter { isName($0, name) }.map { HeadSlice($0.value, of: head) }
    }

    /// The values of all fields with this name, which comes from the settings.
    package func values(named name: String) -> [ArraySlice<UInt8>] {
        let (head, name) = (self.head, name.utf8.span)
        var values: [ArraySlice<UInt8>] = []
        for line in lines where head.span.extracting(line.name.indices).isEqualIgnoringCase(to: name) {
            values.append(head[line.value.indices])
        }
        return values
    }

    package func contains(_ name: StaticString) -> Bool { lines.contains { isName($0, name) } }

    private func isName(_ line: FieldLine, _ name: StaticString) -> Bool {
        let range = line.name.indices
        return range.count == name.utf8CodeUnitCount
            && head.span.extracting(range).equals(name, ignoringCase: true)
    }
}

/// The location of a part of a request's head, relative to the head's first byte.
struct HeadRange: Sendable {
    private let start: UInt32
    private let end: UInt32

    init(_ range: Range<Int>) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
    }

    var indices: Range<Int> { Int(start)..<Int(end) }
}

/// A part of a request's head, read in place: a path, or a field's value.
package struct HeadSlice: Sendable {
    private let head: [UInt8]
    private let range: Range<Int>

    init(_ range: HeadRange, of head: [UInt8]) {
        self.head = head
        self.range = range.indices
    }

    package var count: Int { range.count }

    /// The text; invalid UTF-8 becomes U+FFFD.
    package var string: String { String(decoding: bytes, as: UTF8.self) }

    package var bytes: ArraySlice<UInt8> { head[range] }

    /// Whether two texts are equal byte for byte.
    package static func == (text: HeadSlice, other: StaticString) -> Bool {
        text.head.span.extracting(text.range).equals(other)
    }

    package func hasPrefix(_ prefix: StaticString) -> Bool {
        let length = prefix.utf8CodeUnitCount
        return count >= length && head.span.extracting(range.prefix(length)).equals(prefix)
    }

    /// Whether an item of a comma-separated list is this word, without regard to case.
    func lists(_ word: StaticString) -> Bool {
        bytes.split(separator: UInt8(ascii: ",")).contains { item in
            let item = item.drop { $0.isBlank }.prefix { !$0.isBlank }
            return word.withUTF8Buffer { unsafe item.lazy.map(\.asciiLowercased).elementsEqual($0) }
        }
    }
}

extension Span<UInt8> {
    /// - Parameter ignoringCase: whether ASCII letters may differ in case.
    func equals(_ other: StaticString, ignoringCase: Bool = false) -> Bool {
        guard count == other.utf8CodeUnitCount else { return false }
        return other.withUTF8Buffer { other in
            for index in indices {
                let byte = self[index]
                let wanted = unsafe other[index]
                guard byte == wanted || (ignoringCase && byte.asciiLowercased == wanted.asciiLowercased) else {
                    return false
                }
            }
            return true
        }
    }
}

extension Span<UInt8> {
    /// A copy of some of the bytes.
    func copied(_ range: some RangeExpression<Int>) -> [UInt8] {
        unsafe extracting(range.relative(to: indices)).withUnsafeBufferPointer { unsafe Array($0) }
    }
}
