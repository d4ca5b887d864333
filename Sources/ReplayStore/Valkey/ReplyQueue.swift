internal import NIOCore

/// Sends commands over a connection, and hands each its reply: replies come in the order of the commands. Confined to one event loop.
final class ReplyQueue: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What came of a command.
    enum Result {
        case reply(RESPReply)
        /// The connection ended before the reply: nobody knows whether the command was carried out.
        case broken
    }

    private var reader = RESPReader()
    private var waiting = CircularBuffer<(Result) -> Void>()
    private var context: ChannelHandlerContext?
    private var isFlushDue = false
    private var sent = 0
    /// Why the connection ends as soon as nothing waits any more; `nil`: it does not.
    private var reasonToEnd: String?
    /// `nil`: it has ended.
    private var onEnd: ((_ reason: String) -> Void)?

    /// - Parameter onEnd: called once, when the connection has ended, before the commands that wait are told.
    init(onEnd: @escaping (_ reason: String) -> Void) { self.onEnd = onEnd }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends a command. What is sent within a turn of the event loop goes out together.
    ///
    /// - Returns: the command's number; later ones have higher numbers.
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
                self.context?.flush()
            }
        }
        return number
    }

    /// Ends the connection once every command has been answered.
    func endWhenAnswered(_ reason: String) {
        reasonToEnd = reason
        endIfAnswered()
    }

    /// Ends the connection now: whatever still comes over it is not looked at.
    func end(_ reason: String) {
        guard let onEnd = onEnd.take() else { return }
        // Over TLS, the channel closes only when the other side has said that this is the end, or some time later.
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
                // A reply to nothing: from here on none could be told whose it is.
                guard let completion = waiting.popFirst() else { throw RESPError() }
                completion(.reply(reply))
            }
        } catch {
            end(ConnectionFailure.notRESP)
        }
        endIfAnswered()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(ConnectionFailure.reason(error)) }
    func channelInactive(context: ChannelHandlerContext) { end(ConnectionFailure.closed) }
}

@available(*, unavailable) extension ReplyQueue: Sendable {}
