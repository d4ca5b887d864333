internal import NIOCore

/// Reads one request after the other from the bytes of a connection, each as far as it is there.
struct RequestReader {
    private let maximumHeader: Int
    private var headParser: HeadParser
    private var part = Part.head
    private var chunks = ChunkedBody()

    private enum Part {
        case head
        case body(Framing.Body)
    }

    enum Step {
        case head(RequestHead)
        /// The body of the request whose head came before; the next bytes are another request's.
        case end(body: [UInt8])
    }

    init(maximumHeader: Int) {
        self.maximumHeader = maximumHeader
        headParser = HeadParser(maximumLength: maximumHeader)
    }

    /// How many bytes of an unfinished body are held here, and no longer in the input.
    var heldBytes: Int { chunks.bytes.count }

    /// Takes the next step.
    ///
    /// - Parameter bodyLimit: of the octets of the body whose head came before.
    /// - Returns: `nil` where what is needed for it is not all there.
    /// - Throws: ``HTTPFault``; nothing behind it may be read.
    mutating func next(_ input: inout ByteBuffer, bodyLimit: Int) throws(HTTPFault) -> Step? {
        switch part {
        case .head:
            guard let head = try headParser.parse(&input) else { return nil }
            headParser = HeadParser(maximumLength: maximumHeader)
            part = .body(head.framing.body)
            return .head(head)
        case .body(.length(let length)):
            guard length <= bodyLimit else { throw .bodyTooLarge }
            guard let body = input.readBytes(length: length) else { return nil }
            part = .head
            return .end(body: body)
        case .body(.chunked):
            guard let body = try chunks.read(&input, limit: bodyLimit, maximumOverhead: maximumHeader) else {
                return nil
            }
            chunks = ChunkedBody()
            part = .head
            return .end(body: body)
        }
    }
}
