internal import NIOCore

/// Sends commands over a connection, and matches replies to them: replies arrive in the order of the commands. Confined
/// to one event loop.
final class ReplyQueue: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The result of a command.
    enum Result {
        case reply(RESPReply)
        /// The connection ended before the reply, so it is unknown whether the command was executed.
        case broken
    }

    private var reader = RESPReader()
    private var waiting = CircularBuffer<(Result) -> Void>()
    private var context: ChannelHandlerContext?
    private var isFlushDue = false
    private var sent = 0
    /// How many commands have been handed to the system. Only these can have replies.
    private var flushed = 0
    private var answered = 0
    /// Why the connection ends once all replies have arrived; `nil` if it stays open.
    private var reasonToEnd: StoreFailure?
    /// `nil` once the connection has ended.
    private var onEnd: ((_ reason: StoreFailure) -> Void)?

    /// - Parameter onEnd: called once when the connection has ended, before the pending commands get their results.
    init(onEnd: @escaping (_ reason: StoreFailure) -> Void) { self.onEnd = onEnd }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends a command. Commands sent in the same turn of the event loop are written together.
    ///
    /// - Returns: the command's number; numbers increase.
    @discardableResult
    func send(_ command: RESPCommand, _ completion: @escaping (Result) -> Void) -> Int {
        sent += 1
        let number = sent
        guard onEnd != nil, let context else {
            completion(.broken)
            return number
        }
        waiting.append(completion)
        context.write(wrapOutboundOut(ByteBuffer(bytes: command.octets)), promise: nil)
        if !isFlushDue {
            isFlushDue = true
            context.eventLoop.assumeIsolated().execute {
                self.isFlushDue = false
                self.flushed = self.sent
                self.context?.flush()
            }
        }
        return number
    }

    /// Ends the connection once every command has its reply.
    func endWhenAnswered(_ reason: StoreFailure) {
        reasonToEnd = reason
        endIfAnswered()
    }

    /// Ends the connection now. Later input is ignored.
    func end(_ reason: StoreFailure) {
        guard let onEnd = onEnd.take() else { return }
        // With TLS, the channel closes only after the peer's close_notify or a timeout.
        context?.close(promise: nil)
        context = nil
        onEnd(reason)
        while let completion = waiting.popFirst() { completion(.broken) }
    }

    private func endIfAnswered() {
        if let reasonToEnd, waiting.isEmpty { end(reasonToEnd) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard onEnd != nil else { return }
        reader.append(unwrapInboundIn(data).readableBytesView)
        do throws(RESPError) {
            while onEnd != nil, let reply = try reader.next() {
                // A reply without a command: from here on, replies could not be matched.
                guard answered < flushed, let completion = waiting.popFirst() else { throw RESPError() }
                answered += 1
                completion(.reply(reply))
            }
            // Even the beginning of one: it would become the reply to the next command.
            if answered == flushed, !reader.isEmpty { throw RESPError() }
        } catch {
            end(.notRESP)
        }
        endIfAnswered()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(.connection(error)) }
    func channelInactive(context: ChannelHandlerContext) { end(.closed) }
}

/// Checks with `WAIT` whether replicas have received the writes of one connection. Only one `WAIT` is in flight at a
/// time; it covers all commands sent before it. Confined to one event loop.
///
/// While a server waits, it answers nothing else on the connection. So the timeout of a `WAIT` is less than half of a
/// claim's: a claim made meanwhile then has enough time left for its own `WAIT`.
final class ReplicaConfirmation {
    private let replicas: Int
    private let limit: TimeAmount
    /// The completions that the current `WAIT` calls. Those in ``later`` need the next one.
    private var covered: [(Bool) -> Void] = []
    private var later: [(Bool) -> Void] = []
    /// The number of the `WAIT` in flight, and its deadline; `nil` if there is none.
    private var current: (number: Int, overdue: NIODeadline)?

    /// - Parameter timeout: the timeout of a claim.
    init(replicas: Int, timeout: TimeAmount) {
        self.replicas = replicas
        limit = max(.milliseconds(timeout.nanoseconds / 1_000_000 * 2 / 5), .milliseconds(1))
    }

    /// Whether the server is busy with a `WAIT` that is not overdue.
    func isUnderWay(at now: NIODeadline) -> Bool { current.map { now < $0.overdue } ?? false }

    /// - Parameters:
    ///   - number: the number of a command that succeeded.
    ///   - completion: called with whether enough replicas confirmed it in time.
    func confirm(_ number: Int, over replies: ReplyQueue, _ completion: @escaping (Bool) -> Void) {
        if let current {
            if number < current.number { covered.append(completion) } else { later.append(completion) }
        } else {
            begin([completion], over: replies)
        }
    }

    private func begin(_ completions: [(Bool) -> Void], over replies: ReplyQueue) {
        covered = completions
        // Set before sending, because a closed connection calls back at once.
        current = (.max, .now() + limit + limit)
        let number = replies.send(.wait(replicas: replicas, milliseconds: limit.nanoseconds / 1_000_000)) { result in
            let isEnough = if case .reply(.integer(let count)) = result { count >= self.replicas } else { false }
            let (covered, later) = (self.covered, self.later)
            (self.covered, self.later, self.current) = ([], [], nil)
            if !later.isEmpty { self.begin(later, over: replies) }
            for completion in covered { completion(isEnough) }
        }
        current?.number = number
    }
}
