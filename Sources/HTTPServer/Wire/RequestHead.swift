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

    /// The target's path as sent, without a query, also for an absolute-form target.
    package var path: HeadSlice { fields.text(pathRange) }

    /// The target's query as sent, without its question mark; empty if there is none. It is searched for on each
    /// access, because few requests have one.
    package var query: HeadSlice { fields.query(behind: pathRange) }
}
