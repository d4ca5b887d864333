/// The head of one request: one that every reader would see the same (see ``Framing``).
package struct RequestHead: Sendable {
    package let method: RequestMethod
    package let fields: HTTPFields
    private let pathRange: HeadRange
    let isHTTP10: Bool
    let framing: Framing

    /// - Parameter text: the whole head, as far as its end.
    /// - Throws: ``HTTPFault/malformed``.
    init(_ line: RequestLine, _ lines: [FieldLine], text: [UInt8]) throws(HTTPFault) {
        method = line.method
        fields = HTTPFields(lines, of: text)
        pathRange = line.path
        isHTTP10 = line.isHTTP10
        framing = try Framing(lines, isHTTP10: line.isHTTP10, text)
    }

    /// The head of a request that came over no connection.
    ///
    /// - Parameter path: with a query behind it, where there is one.
    package init(_ method: RequestMethod, _ path: String, _ fields: HTTPFields = [:]) {
        self.method = method
        let target: HeadRange
        (self.fields, target) = fields.adding(path)
        pathRange = HeadRange(target.indices.prefix(path.utf8.prefix { $0 != UInt8(ascii: "?") }.count))
        isHTTP10 = false
        framing = Framing()
    }

    /// Bytes that are held for the head, about.
    var size: Int { fields.size }

    /// The target's path as it was sent, without a query; of an absolute-form target as well.
    package var path: HeadText { fields.text(pathRange) }

    /// The target's query as it was sent, without its question mark; empty where there is none. It is looked for when asked
    /// for, since hardly any request has one.
    package var query: HeadText { fields.query(behind: pathRange) }
}
