internal import NIOCore
internal import NIOHTTP1

/// One HTTP/1.1 connection: gathers requests, has them answered one after the other, and writes the answers in order.
///
/// A request that can be answered at once is answered before the next byte is looked at. While one waits, nothing more is
/// read: what has been decoded already is queued, and what has not stays in the socket.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let responder: any HTTPResponder
    private let table: ConnectionTable
    private let counts: ListenerCounts
    private let limits: ListenerLimits

    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    private var head: HTTPRequestHead?
    private var body: ByteBuffer?
    private var bodyLimit = 0
    private var isUnderWay = true
    /// Parts that came behind a request which is still being answered.
    private var queue = CircularBuffer<HTTPServerRequestPart>()
    /// What is wrong with the bytes behind ``queue``.
    private var faultBehindQueue: HTTPFault?
    private var isCountedAsConnection = true
    private var isCountedInFlight = false
    /// Bytes of an unfinished body that ``counts`` knows of.
    private var heldBytes = 0
    private var wantsRead = false
    private var hasUnflushedWrites = false
    private var isInputClosed = false
    /// The tick of ``table`` at which patience ends.
    private(set) var deadline: Int

    private enum Phase {
        /// Between requests.
        case idle
        /// Some bytes of a request are there.
        case reading
        /// A whole request waits for its answer.
        case answering
        /// The last answer has been written; what still comes in is dropped, so that closing does not cut the answer off.
        case closing
    }

    /// How long after the last answer the other side may take to close.
    private static let lingerSeconds: Int64 = 2

    init(
        responder: any HTTPResponder, table: ConnectionTable, counts: ListenerCounts, limits: ListenerLimits
    ) {
        self.responder = responder
        self.table = table
        self.counts = counts
        self.limits = limits
        deadline = table.tick(inSeconds: limits.idleTimeoutSeconds)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        table.insert(self)
        if !counts.admitConnection() {
            isCountedAsConnection = false
            refuse(.overloaded)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        table.remove(self)
        if isCountedAsConnection { counts.connectionClosed() }
        leaveFlight()
        phase = .closing
        queue.removeAll()
        context.fireChannelInactive()
    }

    // MARK: Reading

    /// Bytes have come, before the decoder saw them. Returns whether it should.
    func bytesArrived() -> Bool {
        if phase == .idle { startReading() }
        return phase != .closing
    }

    private func startReading() {
        phase = .reading
        deadline = table.tick(inSeconds: limits.requestTimeoutSeconds)
    }

    /// Whether what comes in has to wait: for the answer to what came before, or for the other side to take the answers it
    /// has.
    private var mustWait: Bool { phase == .answering || !queue.isEmpty || context?.channel.isWritable == false }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if mustWait {
            queue.append(part)
        } else {
            take(part)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Only now does a request that is not yet whole count as one under way, and its body as memory that it holds.
        if head != nil, phase == .reading, !enterFlight() || !holdBody() { refuse(.overloaded) }
        flush()
    }

    func read(context: ChannelHandlerContext) {
        if mustWait {
            wantsRead = true
        } else {
            context.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if phase == .idle { deadline = table.tick(inSeconds: limits.idleTimeoutSeconds) }
            resume()
        } else if phase != .answering {
            // Whoever does not take answers gets no more of them.
            deadline = table.tick(inSeconds: limits.requestTimeoutSeconds)
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            if phase != .answering, queue.isEmpty { close() }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return close() }
        let fault: HTTPFault = error == .headerOverflow ? .headersTooLarge : .malformed
        if phase == .answering || !queue.isEmpty {
            // Those that came before are still to be answered.
            faultBehindQueue = fault
        } else {
            refuse(fault)
            flush()
        }
    }

    private func take(_ part: HTTPServerRequestPart) {
        guard phase != .closing else { return }
        switch part {
        case .head(let head): begin(head)
        case .body(let bytes):
            if body == nil { body = bytes } else { body?.writeImmutableBuffer(bytes) }
            if (body?.readableBytes ?? 0) > bodyLimit { refuse(.bodyTooLarge) }
        case .end: answer()
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        self.head = head
        if phase == .idle { startReading() }
        isUnderWay = !responder.isStopping
        guard head.isUnambiguous else { return refuse(.malformed) }
        bodyLimit = responder.bodyLimit(for: head)
        if let announced = head.headers.first(name: "Content-Length").flatMap(Int.init), announced > bodyLimit {
            return refuse(.bodyTooLarge)
        }
        if head.version.minor > 0, head.headers.first(name: "Expect")?.lowercased() == "100-continue", let context {
            var buffer = context.channel.allocator.buffer(capacity: 32)
            buffer.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
        }
    }

    // MARK: Answering

    private func answer() {
        guard let head, let context else { return }
        let request = HTTPRequest(head: head, body: body, isUnderWay: isUnderWay)
        body = nil
        switch responder.respond(to: request) {
        case .now(let response): finish(response)
        case .later(let begin):
            guard enterFlight() else { return refuse(.overloaded) }
            phase = .answering
            deadline = .max
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            begin().whenComplete { result in
                let connection = bound.value
                guard connection.phase == .answering else { return }
                // A responder that can't even say what went wrong leaves nothing to say.
                guard case .success(let response) = result else { return connection.close() }
                connection.finish(response)
                connection.resume()
            }
        }
    }

    private func finish(_ response: HTTPResponse) {
        guard let head else { return }
        leaveFlight()
        // The decoder reads nothing more after a request to upgrade, which Java's client sends on every first request.
        let closes =
            response.closesConnection || !head.isKeepAlive || (isInputClosed && queue.isEmpty)
            || head.method == .CONNECT || head.headers.contains(name: "Upgrade")
        write(response, closes: closes, omitsBody: head.method == .HEAD)
        self.head = nil
        if closes {
            linger()
        } else {
            phase = .idle
            deadline = table.tick(inSeconds: limits.idleTimeoutSeconds)
        }
    }

    /// Answers a request that was not read to its end, and no other after it.
    private func refuse(_ fault: HTTPFault) {
        guard phase != .closing else { return }
        leaveFlight()
        write(responder.respond(to: fault, head: head), closes: true, omitsBody: head?.method == .HEAD)
        head = nil
        body = nil
        linger()
    }

    /// Goes on with what had to wait for an answer, or for the other side to take the answers it has.
    private func resume() {
        guard let context else { return }
        while phase != .answering, context.channel.isWritable, let part = queue.popFirst() {
            take(part)
        }
        if phase != .answering, queue.isEmpty, let fault = faultBehindQueue { refuse(fault) }
        flush()
        if wantsRead, !mustWait {
            wantsRead = false
            context.read()
        }
    }

    private func write(_ response: HTTPResponse, closes: Bool, omitsBody: Bool) {
        guard let context else { return }
        var buffer = context.channel.allocator.buffer(capacity: 320 + response.body.count)
        response.write(into: &buffer, date: table.date, closes: closes, omitsBody: omitsBody)
        context.write(wrapOutboundOut(buffer), promise: nil)
        hasUnflushedWrites = true
    }

    /// One system call for all the answers that one read brought about.
    private func flush() {
        guard hasUnflushedWrites else { return }
        hasUnflushedWrites = false
        context?.flush()
    }

    // MARK: Ending

    /// Counts the request as one under way, unless there are too many.
    private func enterFlight() -> Bool {
        if !isCountedInFlight { isCountedInFlight = counts.admitRequest() }
        return isCountedInFlight
    }

    /// Counts the part of the body that is there, unless all unfinished bodies together hold too much.
    private func holdBody() -> Bool {
        let more = (body?.readableBytes ?? 0) - heldBytes
        guard counts.admitBytes(more) else { return false }
        heldBytes += more
        return true
    }

    private func leaveFlight() {
        guard isCountedInFlight else { return }
        isCountedInFlight = false
        counts.requestEnded(holding: heldBytes)
        heldBytes = 0
    }

    /// Closes our half, and waits a little for the other: closing at once, with bytes unread, would reset the connection
    /// and might take the last answer with it.
    private func linger() {
        phase = .closing
        deadline = table.tick(inSeconds: Self.lingerSeconds)
        queue.removeAll()
        flush()
        if isInputClosed {
            close()
        } else {
            context?.close(mode: .output, promise: nil)
        }
    }

    func deadlinePassed() {
        switch phase {
        case .reading where context?.channel.isWritable == true: refuse(.timeout)
        case .idle, .reading, .answering, .closing: close()
        }
    }

    func close() { context?.close(promise: nil) }

    /// Closes the connection unless something is under way on it.
    func closeIfIdle() {
        if phase == .idle { close() }
    }
}

@available(*, unavailable) extension HTTPConnection: Sendable {}

extension HTTPRequestHead {
    /// Whether every reader would see the same request: exactly one Host, but for HTTP/1.0 (RFC 9112, 3.2), which in turn knows
    /// no transfer codings (6.1).
    fileprivate var isUnambiguous: Bool {
        guard version.major == 1 else { return false }
        return version.minor == 0 ? !headers.contains(name: "Transfer-Encoding") : headers["Host"].count == 1
    }
}
