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

@available(*, unavailable) extension ReplyQueue: Sendable {}
