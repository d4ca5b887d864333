/// Parses the requests of a connection one by one, incrementally as their bytes arrive.
///
/// Pure: bytes in, requests out. The result does not depend on how the bytes are split.
package struct RequestReader {
    private let maximumHeader: Int
    private var headParser: HeadParser
    private var part = Part.head
    private var chunks = ChunkedBody()
    /// The part of a body of known length that has arrived, if it did not arrive at once.
    private var piece: [UInt8] = []

    private enum Part {
        case head
        case body(Framing.Body)
    }

    package enum Step {
        case head(RequestHead)
        /// The body of the current request; the next bytes belong to another request.
        case end(body: [UInt8])
    }

    package init(maximumHeader: Int) {
        self.maximumHeader = maximumHeader
        headParser = HeadParser(maximumLength: maximumHeader)
    }

    /// The number of bytes of an incomplete body.
    var heldBytes: Int { chunks.bytes.count + piece.count }

    /// Takes the next step.
    ///
    /// - Parameters:
    ///   - bytes: the received bytes that have not been consumed.
    ///   - bodyLimit: the limit for the current request's body, in bytes.
    /// - Returns: the step, or `nil` if more bytes are needed; and the number of bytes consumed.
    /// - Throws: ``HTTPFault``; nothing after it may be read.
    package mutating func next(_ bytes: Span<UInt8>, bodyLimit: Int) throws(HTTPFault) -> (step: Step?, taken: Int) {
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

    /// Appends a piece of a body. Memory for the whole body is reserved only once a quarter of it has arrived, because
    /// the announced length may be wrong.
    private mutating func keep(_ bytes: Span<UInt8>, ofLength length: Int) {
        let needed = piece.count + bytes.count
        if piece.capacity < needed { piece.reserveCapacity(min(length, 4 * needed)) }
        unsafe bytes.withUnsafeBufferPointer { unsafe piece.append(contentsOf: $0) }
    }
}
