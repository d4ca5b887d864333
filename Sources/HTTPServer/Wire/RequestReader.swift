/// Reads one request after the other from the bytes of a connection, each as far as it is there.
///
/// Pure: bytes in, requests out. However the same bytes are cut into pieces, the same requests come of them.
struct RequestReader {
    private let maximumHeader: Int
    private var headParser: HeadParser
    private var part = Part.head
    private var chunks = ChunkedBody()
    /// What has come of a body whose length is known, where it did not come at once.
    private var piece: [UInt8] = []

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
    var heldBytes: Int { chunks.bytes.count + piece.count }

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

    /// Keeps a further piece of a body, in memory for the whole of it as far as there is reason to believe in its length: a
    /// quarter has come.
    private mutating func keep(_ bytes: Span<UInt8>, ofLength length: Int) {
        let needed = piece.count + bytes.count
        if piece.capacity < needed { piece.reserveCapacity(min(length, 4 * needed)) }
        unsafe bytes.withUnsafeBufferPointer { unsafe piece.append(contentsOf: $0) }
    }
}
