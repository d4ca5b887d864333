internal import NIOCore

/// One HTTP/1.1 connection: passes its requests to the responder one by one, and writes the responses in order.
///
/// A request that can be answered at once is answered before the next byte is parsed. While a response is pending, or
/// the client does not read its responses, nothing more is read (backpressure): received bytes stay in `input`, and the
/// rest stays in the socket.
final class HTTPConnection: ChannelDuplexHandler, TimedConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let responder: any HTTPResponder
    let table: ConnectionTable
    private let batcher: ResponseBatcher
    private let executor: LoopExecutor
    let limits: ListenerLimits
    let counts: ListenerCounts
    var quota: ConnectionQuota

    var context: ChannelHandlerContext?
    var phase = Phase.idle
    /// Received bytes that have not been parsed, or are not complete enough to be parsed.
    var input = ByteBuffer()
    var reader: RequestReader
    /// The request that is being read or answered.
    var head: RequestHead?
    private var routing: HeadRouting?
    private var isUnderWay = true
    /// Whether the current request is answered without its body, so that the connection can't be used again.
    private var leavesBodyUnread = false
    /// A fault caused by the bytes after the current request. It is reported once that request has been answered.
    var faultBehind: HTTPFault?
    /// Responses that will be written together.
    var output: ByteBuffer?
    /// Whether the channel accepts writes, according to its last event: asking it each time costs more.
    var isWritable = true
    var wantsRead = false
    var isInputClosed = false
    /// Requests answered since the event loop last served other connections.
    private var answersInTurn = 0
    var isResumeScheduled = false
    var unread = UnreadOutput()
    let isEncrypted: Bool
    var progress = ClientProgress()
    /// The tick of ``table`` at which the connection times out.
    var deadline: Int
    /// When the current request started to arrive, if it did not come in one read; monotonic.
    private var readingSinceMicroseconds: Int64?
    /// The name in the client's certificate, after the handshake.
    private var clientName: String?

    enum Phase {
        /// Between requests.
        case idle
        /// Part of a request has arrived.
        case reading
        /// A complete request waits for its response.
        case answering
        /// The last response is being written; further input is discarded.
        case writing
        /// The last response has been written, and our side is closed. Closing the other side at once, with unread
        /// input, would reset the connection and could destroy the response.
        case lingering
    }

    private static let answersATurn = 64
    /// Once responses reach this many bytes, they are written without waiting for more.
    private static let outputATurn = 64 * 1024
    /// After a longer flush, unread output is counted at once; after shorter ones, once a second: clients usually read
    /// those immediately.
    private static let longOutput = 2048
    /// Encrypted output is written in pieces of one TLS record, because swift-nio-ssl keeps a buffer as large as the
    /// connection's longest write.
    private static let encryptedPiece = 16 * 1024

    init(
        responder: any HTTPResponder, table: ConnectionTable, batcher: ResponseBatcher, executor: LoopExecutor,
        counts: ListenerCounts, limits: ListenerLimits, isEncrypted: Bool
    ) {
        self.isEncrypted = isEncrypted
        self.responder = responder
        self.table = table
        self.batcher = batcher
        self.executor = executor
        self.limits = limits
        self.counts = counts
        quota = ConnectionQuota(counts)
        reader = RequestReader(maximumHeader: limits.maximumHeader)
        deadline = table.tick(inSeconds: limits.idleTimeoutSeconds)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        table.insert(self)
        switch quota.open() {
        case .admitted: break
        case .refused: refuse(.overloaded(.connections))
        case .none: close()
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        table.remove(self)
        phase = .lingering
        forgetRequests()
        quota.close()
        context.fireChannelInactive()
    }

    // MARK: Reading

    var isEnding: Bool { phase == .writing || phase == .lingering }

    /// Whether the next bytes can be parsed now: no response is pending, the client reads its responses, and the event
    /// loop's other connections have not waited too long.
    var canGoOn: Bool {
        phase != .answering && !isEnding && answersInTurn < Self.answersATurn && isWritable
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding, faultBehind == nil else { return }
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        processInput()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        pause()
        if let output { batcher.add(self, bytes: output.readableBytes) }
    }

    func read(context: ChannelHandlerContext) {
        if isEnding || canGoOn {
            context.read()
        } else {
            wantsRead = true
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if isWritable {
            if phase == .idle || phase == .reading { setDeadline() }
            // Later, because the channel is in the middle of writing.
            scheduleResume()
        } else if phase != .answering {
            expectAnswersToBeTaken()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            if phase == .lingering { close() } else { endIfAllIsAnswered() }
        } else if let client = event as? ClientIdentified {
            clientName = client.name
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    /// Parses and answers the input, as far as possible now.
    private func processInput() {
        while input.readableBytes > 0 || phase == .reading, canGoOn {
            if phase == .idle { startReading() }
            let bodyLimit = routing?.bodyLimit ?? 0
            do throws(HTTPFault) {
                let (step, taken) = try reader.next(input.readableBytesUInt8Span, bodyLimit: bodyLimit)
                input.moveReaderIndex(forwardBy: taken)
                switch step {
                case .head(let head): try begin(head)
                case .end(let body): answer(body)
                case nil: return
                }
            } catch {
                refuse(error)
            }
            if let output, output.readableBytes >= Self.outputATurn { writeAnswers() }
        }
    }

    private func startReading() {
        phase = .reading
        readingSinceMicroseconds = nil
        deadline = table.tick(inSeconds: limits.requestTimeoutSeconds)
    }

    private func begin(_ head: RequestHead) throws(HTTPFault) {
        self.head = head
        isUnderWay = !responder.isStopping
        let routing = responder.route(head)
        self.routing = routing
        if routing.isAnsweredOnHead {
            guard head.framing.body != .length(0) else { return }
            leavesBodyUnread = true
            return answer([])
        }
        if let name = head.framing.repeatedField { throw .repeatedField("\(name)") }
        guard head.framing.expectsContinue else { return }
        // Don't request a body that would be rejected.
        if case .length(let length) = head.framing.body, length > routing.bodyLimit { throw .bodyTooLarge }
        withOutput { $0.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n") }
    }

    // MARK: Answering

    private func answer(_ body: [UInt8]) {
        guard let head, let routing else { return }
        let bodyBytes = body.count
        switch responder.respond(
            to: HTTPRequest(
                head: head, body: body, routing: routing, isUnderWay: isUnderWay, clientName: clientName))
        {
        case .now(let response): finish(response)
        case .later(var cost, let answer):
            // From here on, the request's own bytes count towards `cost`; the quota keeps only the unparsed input.
            _ = quota.hold(input.readableBytes)
            cost.bytes += head.size + bodyBytes
            guard let waiting = quota.beginWaiting(cost) else { return refuse(.overloaded(.inFlight)) }
            phase = .answering
            deadline = .max
            executor.startTask {
                let response = try? await answer()
                self.counts.waitingEnded(waiting)
                guard self.phase == .answering else { return }
                guard let response else { return self.close() }
                self.finish(response)
                self.resume()
            }
        }
    }

    private func finish(_ response: HTTPResponse) {
        guard let head else { return }
        quota.endRequest()
        answersInTurn += 1
        // HTTP/1.0 keeps connections open only by an extension, and a client that requests a tunnel sends no more
        // requests.
        let closes =
            response.closesConnection || head.framing.closes || head.isHTTP10 || head.method == .connect
            || leavesBodyUnread || (isInputClosed && input.readableBytes == 0)
        write(response, closes: closes, omitsBody: head.method == .head)
        self.head = nil
        if closes {
            end()
        } else {
            phase = .idle
            setDeadline()
        }
    }

    /// Answers a request that could not be read, and closes the connection afterwards.
    func refuse(_ fault: HTTPFault) {
        guard !isEnding else { return }
        quota.endRequest()
        let request = FailedRequest(
            fault: fault, head: head, routing: head == nil ? nil : routing,
            startedAtMicroseconds: phase == .reading ? readingSinceMicroseconds : nil,
            clientName: clientName)
        write(responder.respond(to: request), closes: true, omitsBody: head?.method == .head)
        end()
    }

    private func write(_ response: HTTPResponse, closes: Bool, omitsBody: Bool) {
        withOutput { response.write(into: &$0, date: table.date, closes: closes, omitsBody: omitsBody) }
        guard let constant = response.constantBody, !omitsBody else { return }
        writeAnswers()
        give(constant, isOwn: isEncrypted)
    }

    private func withOutput(_ body: (inout ByteBuffer) -> Void) {
        var buffer = output.take() ?? batcher.takeBuffer()
        body(&buffer)
        output = buffer
    }

    /// One system call for all responses to the requests of one read.
    func writeAnswers() {
        guard let written = output.take() else { return }
        give(written, isOwn: true)
        batcher.giveBack(written)
    }

    /// Passes bytes to the channel.
    ///
    /// - Parameters:
    ///   - isOwn: whether they use memory until the client reads them.
    ///   - written: succeeds once the kernel has accepted all of them.
    func give(_ bytes: ByteBuffer, isOwn: Bool, written: EventLoopPromise<Void>? = nil) {
        let count = bytes.readableBytes
        unread.gave(count, isOwn: isOwn)
        var rest = bytes
        while isEncrypted, rest.readableBytes > Self.encryptedPiece,
            let piece = rest.readSlice(length: Self.encryptedPiece)
        {
            context?.writeAndFlush(wrapOutboundOut(piece), promise: nil)
        }
        context?.writeAndFlush(wrapOutboundOut(rest), promise: written)
        if count > Self.longOutput { measureUnread() }
    }

    // MARK: Waiting

    /// Keeps the rest of the input until a later turn, counting its memory.
    private func pause() {
        guard !isEnding else { return }
        var held = input.readableBytes
        if phase == .reading, readingSinceMicroseconds == nil {
            readingSinceMicroseconds = SystemClocks.monotonicMicroseconds()
        }
        if phase == .reading, let head {
            // A request counts as in progress only if it did not arrive in one read.
            quota.beginReading()
            held += head.size + reader.heldBytes
        }
        if !quota.hold(held) {
            input = ByteBuffer()
            if phase == .answering {
                faultBehind = .overloaded(.buffered)
            } else {
                return refuse(.overloaded(.buffered))
            }
        }
        if input.readableBytes == 0 {
            // Lets the channel reuse the memory, which it does only while it has the sole reference.
            input = ByteBuffer()
        } else if input.storageCapacity > 2 * input.readableBytes + 1024 {
            // A few remaining bytes must not hold a large buffer.
            input = ByteBuffer(bytes: input.readableBytesView)
        }
        if answersInTurn >= Self.answersATurn { scheduleResume() } else { answersInTurn = 0 }
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

    /// Continues after a response, after the client has read its responses, or in the connection's next turn.
    private func resume() {
        processInput()
        if canGoOn, let fault = faultBehind { refuse(fault) }
        endIfAllIsAnswered()
        pause()
        writeAnswers()
        if wantsRead, canGoOn {
            wantsRead = false
            context?.read()
        }
    }

    /// Starts the timeout for a client that does not read its responses.
    func expectAnswersToBeTaken() {
        progress.expect(from: unwrittenBytes)
        deadline = table.tick(inSeconds: limits.requestTimeoutSeconds)
    }

    /// The number of response bytes that the kernel has not accepted.
    var unwrittenBytes: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func setDeadline() {
        if !isWritable { return expectAnswersToBeTaken() }
        deadline = table.tick(
            inSeconds: phase == .idle ? limits.idleTimeoutSeconds : limits.requestTimeoutSeconds)
    }
}

@available(*, unavailable) extension HTTPConnection: Sendable {}
