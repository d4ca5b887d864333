internal import NIOCore
internal import NIOHTTP1

/// One HTTP/1.1 connection: gathers requests, has them answered one after the other, and writes the answers in order.
///
/// A request that can be answered at once is answered before the next byte is looked at. While one waits, or the other side
/// does not take its answers, nothing more is read: what has been decoded already is queued, what has been read waits at the
/// gate, and the rest stays in the socket.
final class HTTPConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let responder: any HTTPResponder
    private let table: ConnectionTable
    private let limits: ListenerLimits
    private var account: ConnectionAccount

    private var context: ChannelHandlerContext?
    var gate: ByteGate?
    private var phase = Phase.idle
    private var head: HTTPRequestHead?
    private var body: ByteBuffer?
    private var bodyLimit = 0
    private var isUnderWay = true
    /// Parts that came behind a request which is still being answered.
    private var queue = CircularBuffer<HTTPServerRequestPart>()
    /// What is wrong with the bytes behind ``queue``.
    private var faultBehindQueue: HTTPFault?
    private var wantsRead = false
    private var hasUnflushedWrites = false
    private var isInputClosed = false
    /// Requests answered since the event loop last had a chance to look after other connections.
    private var answersInTurn = 0
    private var isResumeScheduled = false
    /// Bytes of answers that the other side had not taken when its time to do so began.
    private var untakenBytes = 0
    /// The tick of ``table`` at which patience ends.
    private(set) var deadline: Int

    private enum Phase {
        /// Between requests.
        case idle
        /// Some bytes of a request are there.
        case reading
        /// A whole request waits for its answer.
        case answering
        /// The last answer is on its way; what still comes in is dropped.
        case writing
        /// The last answer has gone, and our half is closed: closing the other at once, with bytes unread, would reset the
        /// connection and might take the answer with it.
        case lingering
    }

    /// How long after the last answer the other side may take to close.
    private static let lingerSeconds: Int64 = 2
    private static let answersATurn = 64
    /// What a part of a request takes in ``queue``, about.
    private static let queuedPartSize = 512
    /// Who takes less than this of its answers in the time that a request has is let go.
    private static let leastTakenBytes = 64 * 1024

    init(
        responder: any HTTPResponder, table: ConnectionTable, counts: ListenerCounts, limits: ListenerLimits
    ) {
        self.responder = responder
        self.table = table
        self.limits = limits
        account = ConnectionAccount(counts)
        deadline = table.tick(inSeconds: limits.idleTimeoutSeconds)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        table.insert(self)
        switch account.open() {
        case .admitted: break
        case .refused: refuse(.overloaded)
        case .none: close()
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        table.remove(self)
        phase = .lingering
        forgetRequests()
        account.close()
        context.fireChannelInactive()
    }

    // MARK: Reading

    private var isWritable: Bool { context?.channel.isWritable ?? false }
    private var isEnding: Bool { phase == .writing || phase == .lingering }

    /// Whether the next part can be taken now: nothing is being answered, the other side takes its answers, and the event
    /// loop's other connections have not waited too long.
    private var canGoOn: Bool {
        phase != .answering && !isEnding && isWritable && answersInTurn < Self.answersATurn
    }

    /// Whether anything that has come in is still to be looked at.
    private var hasMore: Bool { !queue.isEmpty || gate?.hasMore == true || faultBehindQueue != nil }

    /// Whether the decoder should see more bytes now.
    var takesBytes: Bool {
        if isEnding || faultBehindQueue != nil { gate?.drop() }
        return canGoOn && queue.isEmpty
    }

    /// Bytes are about to be decoded.
    func bytesArrive() {
        if phase == .idle { startReading() }
    }

    private func startReading() {
        phase = .reading
        deadline = table.tick(inSeconds: limits.requestTimeoutSeconds)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if canGoOn, queue.isEmpty {
            take(part)
        } else if !isEnding {
            queue.append(part)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Only now does a request that is not yet whole count as one under way.
        if head != nil, phase == .reading { account.beginReading() }
        pause()
        flush()
    }

    func read(context: ChannelHandlerContext) {
        if isEnding || (canGoOn && !hasMore) {
            context.read()
        } else {
            wantsRead = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isWritable {
            if phase == .idle || phase == .reading { setDeadline() }
            // Not now: the channel is in the middle of writing.
            scheduleResume()
        } else if phase != .answering {
            expectAnswersToBeTaken()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            switch phase {
            case .idle, .reading: if !hasMore { end() }
            case .answering, .writing: break
            case .lingering: close()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return close() }
        let fault: HTTPFault = error == .headerOverflow ? .headersTooLarge : .malformed
        if canGoOn, queue.isEmpty {
            refuse(fault)
        } else if !isEnding {
            // Those that came before are still to be answered.
            faultBehindQueue = fault
        }
    }

    private func take(_ part: HTTPServerRequestPart) {
        guard !isEnding else { return }
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
        if let length = head.contentLength, length > bodyLimit { return refuse(.bodyTooLarge) }
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
            guard account.beginWaiting() else { return refuse(.overloaded) }
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
        account.endRequest()
        answersInTurn += 1
        // The decoder reads nothing more after a request to upgrade, which Java's client sends on every first request; and
        // HTTP/1.0 keeps connections only for those who are told so in a way of its own.
        let closes =
            response.closesConnection || !head.isKeepAlive || head.version.minor == 0
            || (isInputClosed && !hasMore) || head.method == .CONNECT || head.headers.contains(name: "Upgrade")
        write(response, closes: closes, omitsBody: head.method == .HEAD)
        self.head = nil
        if closes {
            end()
        } else {
            phase = .idle
            setDeadline()
        }
    }

    /// Answers a request that was not read to its end, and no other after it.
    private func refuse(_ fault: HTTPFault) {
        guard !isEnding else { return }
        account.endRequest()
        write(responder.respond(to: fault, head: head), closes: true, omitsBody: head?.method == .HEAD)
        end()
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

    // MARK: Waiting

    /// Has what could not be taken wait, counted, and come back to it in a later turn.
    private func pause() {
        guard !isEnding else { return }
        let held = (body?.readableBytes ?? 0) + (gate?.heldBytes ?? 0) + queue.count * Self.queuedPartSize
        if !account.hold(held) {
            gate?.drop()
            queue.removeAll()
            if phase == .answering { faultBehindQueue = .overloaded } else { return refuse(.overloaded) }
        }
        if answersInTurn >= Self.answersATurn || (canGoOn && hasMore) { scheduleResume() } else { answersInTurn = 0 }
    }

    private func scheduleResume() {
        guard let context, !isResumeScheduled else { return }
        isResumeScheduled = true
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute {
            bound.value.isResumeScheduled = false
            bound.value.answersInTurn = 0
            bound.value.resume()
        }
    }

    /// Goes on with what had to wait for an answer, for the other side to take the answers it has, or for its turn.
    private func resume() {
        while canGoOn, let part = queue.popFirst() { take(part) }
        gate?.open()
        if canGoOn, queue.isEmpty, let fault = faultBehindQueue { refuse(fault) }
        if isInputClosed, !hasMore, phase == .idle || phase == .reading { end() }
        pause()
        flush()
        if wantsRead, canGoOn, !hasMore {
            wantsRead = false
            context?.read()
        }
    }

    /// Whoever does not take answers gets no more of them.
    private func expectAnswersToBeTaken() {
        untakenBytes = unwrittenBytes
        deadline = table.tick(inSeconds: limits.requestTimeoutSeconds)
    }

    /// Bytes of answers that are still here.
    private var unwrittenBytes: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func setDeadline() {
        if !isWritable { return expectAnswersToBeTaken() }
        deadline = table.tick(
            inSeconds: phase == .idle ? limits.idleTimeoutSeconds : limits.requestTimeoutSeconds)
    }

    // MARK: Ending

    /// Takes nothing more, and closes once the answers have been written.
    private func end() {
        guard !isEnding, let context else { return }
        phase = .writing
        forgetRequests()
        expectAnswersToBeTaken()
        hasUnflushedWrites = false
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { bound.value.lastAnswerWritten() }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        // What still comes in is read and dropped: unread, it would have the connection reset.
        if wantsRead { context.read() }
    }

    private func forgetRequests() {
        head = nil
        body = nil
        queue.removeAll()
        faultBehindQueue = nil
        gate?.drop()
        _ = account.hold(0)
    }

    private func lastAnswerWritten() {
        phase = .lingering
        guard !isInputClosed else { return close() }
        deadline = table.tick(inSeconds: Self.lingerSeconds)
        context?.close(mode: .output, promise: nil)
    }

    func deadlinePassed() {
        let unwritten = unwrittenBytes
        if phase == .writing || !isWritable, unwritten + Self.leastTakenBytes <= untakenBytes {
            return expectAnswersToBeTaken()
        }
        if phase == .reading, isWritable { refuse(.timeout) } else { close() }
    }

    func close() { context?.close(promise: nil) }

    /// Closes the connection unless something is under way on it.
    func closeIfIdle() {
        if phase == .idle, !hasMore { end() }
    }
}

@available(*, unavailable) extension HTTPConnection: Sendable {}
