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
    var size: Int { fields.size }

    /// The method as sent, also if ``method`` does not know it.
    package var methodName: String { method == .other ? fields.method : method.rawValue }

    /// The target's path as sent, without a query, also for an absolute-form target.
    package var path: HeadSlice { fields.text(pathRange) }

    /// The target's query as sent, without its question mark; empty if there is none. It is searched for on each
    /// access, because few requests have one.
    package var query: HeadSlice { fields.query(behind: pathRange) }
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
