/// Reads one request after the other from the bytes of a connection, each as far as it is there.
///
/// Pure: bytes in, requests out. However the same bytes are cut into pieces, the same requests come of them.
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

    /// How many bytes of an unfinished body are held here.
    var heldBytes: Int { chunks.bytes.count }

    /// Takes the next step.
    ///
    /// - Parameters:
    ///   - bytes: what has come in and was not taken.
    ///   - bodyLimit: of the octets of the body whose head came before.
    /// - Returns: the step, or `nil` where what is needed for it is not all there; and how many bytes were taken.
    /// - Throws: ``HTTPFault``; nothing behind it may be read.
    mutating func next(_ bytes: Span<UInt8>, bodyLimit: Int) throws(HTTPFault) -> (step: Step?, taken: Int) {
        switch part {
        case .head:
            guard let (head, length) = try headParser.parse(bytes) else { return (nil, 0) }
            headParser = HeadParser(maximumLength: maximumHeader)
            part = .body(head.framing.body)
            return (.head(head), length)
        case .body(.length(let length)):
            guard length <= bodyLimit else { throw .bodyTooLarge }
            guard length <= bytes.count else { return (nil, 0) }
            part = .head
            return (.end(body: bytes.copied(..<length)), length)
        case .body(.chunked):
            let (body, taken) = try chunks.read(bytes, limit: bodyLimit, maximumOverhead: maximumHeader)
            guard let body else { return (nil, taken) }
            chunks = ChunkedBody()
            part = .head
            return (.end(body: body), taken)
        }
    }
}
