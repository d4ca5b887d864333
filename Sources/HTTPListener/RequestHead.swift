internal import NIOCore
package import NIOHTTP1

/// The head of one request: one that every reader would see the same (see ``Framing``).
package struct RequestHead: Sendable {
    package let method: HTTPMethod
    /// The target's path as it was sent, without a query; of an absolute-form target as well.
    package let path: HeadText
    package let fields: HTTPFields
    let isHTTP10: Bool
    let framing: Framing

    /// - Parameter text: the whole head, as far as its end.
    /// - Throws: ``HTTPFault/malformed``.
    init(_ line: RequestLine, _ lines: [FieldLine], text: ByteBuffer) throws(HTTPFault) {
        method = line.method
        path = HeadText(line.path, of: text)
        isHTTP10 = line.isHTTP10
        fields = HTTPFields(lines, of: text)
        framing = try Framing(lines, isHTTP10: line.isHTTP10, text)
    }

    /// The head of a request that came over no connection.
    package init(_ method: HTTPMethod, _ path: String, _ fields: HTTPFields = [:]) {
        self.method = method
        let text = ByteBuffer(string: path)
        self.path = HeadText(HeadRange(0..<text.readableBytes), of: text)
        self.fields = fields
        isHTTP10 = false
        framing = Framing()
    }
}
