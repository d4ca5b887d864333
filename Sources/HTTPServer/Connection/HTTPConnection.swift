private import Host
internal import NIOCore
private import NIOSSL

/// One HTTP/1.1 connection: has its requests answered one after the other, and writes the answers in order.
///
/// A request that can be answered at once is answered before the next byte is looked at. While one waits, or the other side
/// does not take its answers, nothing more is read: what has come in waits as it came, and the rest stays in the socket.
final class HTTPConnection: ChannelDuplexHandler, TimedConnection, BatchedWriter {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    private let responder: any HTTPResponder
    private let table: ConnectionTable
    private let batcher: ResponseBatcher
    private let limits: ListenerLimits
    private let counts: ListenerCounts
    private var account: ConnectionAccount

    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    /// What has come in and was not looked at, or was not enough to go on.
    private var input = ByteBuffer()
    private var reader: RequestReader
    /// The request that is being read or answered.
    private var head: RequestHead?
    private var routing: HeadRouting?
    private var isUnderWay = true
    /// What is to be said of the bytes behind the request that is being answered.
    private var faultBehind: HTTPFault?
    /// Answers that wait to be written together.
    private var output: ByteBuffer?
    /// Whether the other side takes what it is given; as the channel last said, since asking it each time costs more.
    private var isWritable = true
    private var wantsRead = false
    private var isInputClosed = false
    /// Requests answered since the event loop last had a chance to look after other connections.
    private var answersInTurn = 0
    private var isResumeScheduled = false
    /// Whether something may have changed since the connection's memory was last looked at.
    private var isUnreadUnknown = false
    /// Since which tick of ``table`` the client has read next to nothing of what counts as unread; `.max` where nothing does.
    private(set) var unreadSince = Int.max
    /// Bytes given to the channel.
    private var givenBytes = 0
    /// How many of them the client had read at ``unreadSince``.
    private var bytesReadThen = 0
    /// Bytes of answers given to the channel since that last had none, but for those that all connections share.
    private var ownBytes = 0
    private let isEncrypted: Bool
    /// Bytes of answers that the other side had not taken when its time to do so began.
    private var untakenBytes = 0
    /// The tick of ``table`` at which patience ends.
    private(set) var deadline: Int
    /// The tick at which a client has read nothing of its last response for the request timeout.
    private var lingeringEnds = 0
    /// When a request that did not come in one read began to; monotonic.
    private var readingSinceMicroseconds: Int64?
    /// The name in the client's certificate, once it is known.
    private var clientName: String?

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

    /// How long after the last answer has been read the client may take to close.
    private static let lingerSeconds: Int64 = 2
    private static let answersATurn = 64
    /// So many bytes of answers are written without waiting for more.
    private static let outputATurn = 64 * 1024
    /// A client that reads less than this of its responses within the request timeout is disconnected.
    private static let leastTakenBytes = 64 * 1024
    /// After a longer flush, unread output is counted at once; after shorter ones, once a second: clients usually read
    /// those immediately.
    private static let longOutput = 2048
    /// Unread bytes that are part of what any connection costs, and are not counted.
    private static let usualUnread = 4096
    /// Encrypted output is flushed in TLS records: swift-nio-ssl keeps a buffer for the longest write of the connection.
    private static let encryptedPiece = 16 * 1024

    init(
        responder: any HTTPResponder, table: ConnectionTable, batcher: ResponseBatcher, counts: ListenerCounts,
        limits: ListenerLimits, isEncrypted: Bool
    ) {
        self.isEncrypted = isEncrypted
        self.responder = responder
        self.table = table
        self.batcher = batcher
        self.limits = limits
        self.counts = counts
        account = ConnectionAccount(counts)
        reader = RequestReader(maximumHeader: limits.maximumHeader)
        deadline = table.tick(inSeconds: limits.idleTimeoutSeconds)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        table.insert(self)
        switch account.open() {
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
        account.close()
        context.fireChannelInactive()
    }

    // MARK: Reading

    private var isEnding: Bool { phase == .writing || phase == .lingering }

    /// Whether the next bytes can be looked at now: nothing is being answered, the other side takes its answers, and the
    /// event loop's other connections have not waited too long.
    private var canGoOn: Bool {
        phase != .answering && !isEnding && answersInTurn < Self.answersATurn && isWritable
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isEnding, faultBehind == nil else { return }
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 { input = bytes } else { input.writeBuffer(&bytes) }
        goOn()
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
            if phase == .lingering { close() } else { endIfAllIsAnswered() }
        } else if let client = event as? ClientIdentified {
            clientName = client.name
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    /// Answers what has come in, as far as it can be answered now.
    private func goOn() {
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
        guard head.framing.expectsContinue else { return }
        // Nobody is asked for a body that would be refused.
        if case .length(let length) = head.framing.body, length > routing.bodyLimit { throw .bodyTooLarge }
        withOutput { $0.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n") }
    }

    // MARK: Answering

    private func answer(_ body: [UInt8]) {
        guard let head, let routing, let context else { return }
        let bodyBytes = body.count
        switch responder.respond(
            to: HTTPRequest(
                head: head, body: body, routing: routing, isUnderWay: isUnderWay, clientName: clientName))
        {
        case .now(let response): finish(response)
        case .later(var cost, let begin):
            // The bytes counted while the request came in are counted again as those of a waiting one.
            _ = account.hold(input.readableBytes)
            cost.bytes += head.size + bodyBytes
            guard let waiting = account.beginWaiting(cost) else { return refuse(.overloaded(.inFlight)) }
            phase = .answering
            deadline = .max
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            begin().whenComplete { [counts] result in
                counts.waitingEnded(waiting)
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
        // HTTP/1.0 keeps connections only for those who are told so in a way of its own, and whoever wants a tunnel sends
        // no more requests.
        let closes =
            response.closesConnection || head.framing.closes || head.isHTTP10 || head.method == .connect
            || (isInputClosed && input.readableBytes == 0)
        write(response, closes: closes, omitsBody: head.method == .head)
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
        let request = UnreadRequest(
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

    /// One system call for all the answers that one read brought about.
    func writeAnswers() {
        guard let written = output.take() else { return }
        give(written, isOwn: true)
        batcher.giveBack(written)
    }

    /// Gives bytes to the channel.
    ///
    /// - Parameters:
    ///   - isOwn: whether they take memory for as long as the client does not take them.
    ///   - written: kept once the kernel has all of them.
    private func give(_ bytes: ByteBuffer, isOwn: Bool, written: EventLoopPromise<Void>? = nil) {
        let count = bytes.readableBytes
        if isOwn { ownBytes &+= count }
        givenBytes &+= count
        isUnreadUnknown = true
        var rest = bytes
        while isEncrypted, rest.readableBytes > Self.encryptedPiece,
            let piece = rest.readSlice(length: Self.encryptedPiece)
        {
            context?.writeAndFlush(wrapOutboundOut(piece), promise: nil)
        }
        context?.writeAndFlush(wrapOutboundOut(rest), promise: written)
        if count > Self.longOutput { measureUnread() }
    }

    // MARK: Unread output

    /// Counts unread output if there may be some. Called at each tick of ``table``.
    ///
    /// - Parameter isSecond: whether a second is over.
    func checkUnread(isSecond: Bool) {
        // While nothing is read, the client can fill the kernel's receive buffer.
        let isHeldUp = !isWritable || phase == .answering
        if isHeldUp || isSecond && (isUnreadUnknown || unreadSince != .max) { measureUnread() }
    }

    /// Counts unread output, and makes room if all connections together hold too much.
    private func measureUnread() {
        countUnread()
        // Not now: this may be in the middle of reading or writing.
        if let context, counts.holdsTooMuch {
            context.eventLoop.assumeIsolated().execute { self.table.makeRoom() }
        }
    }

    var unreadBytes: Int { account.unreadBytes }

    /// Counts the bytes that the client has not read, here and in the kernel.
    func countUnread() {
        // Once it is closed, all is given back.
        guard let context, context.channel.isActive else { return }
        isUnreadUnknown = false
        let unwritten = unwrittenBytes
        if unwritten == 0 { ownBytes = 0 }
        let inKernel = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (socket: NIOBSDSocket.Handle) in SocketMemory.bytes(of: socket)
        }
        let unread = min(unwritten, ownBytes) + (inKernel ?? 0)
        guard unread > Self.usualUnread else {
            unreadSince = .max
            return account.holdUnread(0)
        }
        // A client that reads on is not a slow one, even if it asks for more as fast as it reads.
        let bytesRead = givenBytes &- unwritten &- (inKernel ?? 0)
        if unreadSince == .max || bytesRead &- bytesReadThen > Self.usualUnread {
            (unreadSince, bytesReadThen) = (table.tick, bytesRead)
        }
        account.holdUnread(unread)
    }

    /// Closes the connection with a reset, so that unread output is freed at once, here and in the kernel.
    func abort() {
        guard let context else { return }
        phase = .lingering
        forgetRequests()
        account.holdUnread(0)
        unreadSince = .max
        _ = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable { (socket: NIOBSDSocket.Handle) in
            SocketMemory.dropAtClose(socket)
        }
        // Past TLS, which would first send what it has and wait for an answer.
        let first =
            isEncrypted ? try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) : nil
        (first ?? context).close(promise: nil)
    }

    // MARK: Waiting

    /// Has what could not be taken wait, counted, and come back to it in a later turn.
    private func pause() {
        guard !isEnding else { return }
        var held = input.readableBytes
        if phase == .reading, readingSinceMicroseconds == nil {
            readingSinceMicroseconds = SystemClocks.monotonicMicroseconds()
        }
        if phase == .reading, let head {
            // Only now does a request that is not yet whole count as one under way.
            account.beginReading()
            held += head.size + reader.heldBytes
        }
        if !account.hold(held) {
            input = ByteBuffer()
            if phase == .answering {
                faultBehind = .overloaded(.buffered)
            } else {
                return refuse(.overloaded(.buffered))
            }
        }
        if input.readableBytes == 0 {
            // The channel reads into the same memory again, once nobody else holds it.
            input = ByteBuffer()
        } else if input.storageCapacity > 2 * input.readableBytes + 1024 {
            // Who waits for the rest of a small request should not hold what a large one needs.
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

    /// Goes on with what had to wait for an answer, for the other side to take the answers it has, or for its turn.
    private func resume() {
        goOn()
        if canGoOn, let fault = faultBehind { refuse(fault) }
        endIfAllIsAnswered()
        pause()
        writeAnswers()
        if wantsRead, canGoOn {
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

    /// Ends a connection on which nothing more comes in, once all that came has been answered.
    private func endIfAllIsAnswered() {
        // What was held up by answers that were not taken is still to be looked at.
        if isInputClosed, canGoOn, !isResumeScheduled { end() }
    }

    /// Takes nothing more, and closes once the answers have been written.
    private func end() {
        guard !isEnding, let context else { return }
        phase = .writing
        forgetRequests()
        expectAnswersToBeTaken()
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { bound.value.lastAnswerWritten() }
        give(output.take() ?? ByteBuffer(), isOwn: true, written: written)
        // What still comes in is read and dropped: unread, it would have the connection reset.
        if wantsRead { context.read() }
    }

    private func forgetRequests() {
        head = nil
        input = ByteBuffer()
        reader = RequestReader(maximumHeader: limits.maximumHeader)
        faultBehind = nil
        _ = account.hold(0)
    }

    private func lastAnswerWritten() {
        phase = .lingering
        guard !isInputClosed else { return close() }
        linger()
        context?.close(mode: .output, promise: nil)
    }

    private func linger() {
        untakenBytes = account.unreadBytes
        lingeringEnds = table.tick(inSeconds: limits.requestTimeoutSeconds)
        deadline = table.tick(inSeconds: Self.lingerSeconds)
    }

    func deadlinePassed() {
        if phase == .writing || !isWritable, unwrittenBytes + Self.leastTakenBytes <= untakenBytes {
            return expectAnswersToBeTaken()
        }
        if phase == .reading, isWritable { return refuse(.timeout) }
        if phase == .lingering {
            // The kernel still has something for a client that reads slowly, or only later.
            if account.unreadBytes < untakenBytes { return linger() }
            if account.unreadBytes > 0, table.tick < lingeringEnds {
                deadline = table.tick(inSeconds: Self.lingerSeconds)
                return
            }
        }
        if unreadSince != .max { abort() } else { close() }
    }

    func close() {
        // What has been answered in this turn is not written yet.
        writeAnswers()
        // Over TLS both sides say that this is the end; what the other says instead is not looked at.
        phase = .lingering
        context?.close(promise: nil)
    }

    /// Closes the connection unless something is under way on it.
    func closeIfIdle() {
        if phase == .idle, input.readableBytes == 0 { end() }
    }
}

@available(*, unavailable) extension HTTPConnection: Sendable {}
