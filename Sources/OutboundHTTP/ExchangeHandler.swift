private import Host
internal import NIOCore
internal import NIOHTTP1
private import NIOHTTPCompression
private import NIOSSL
private import NIOTLS

/// Sends the request of an exchange, and collects the response.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let exchange: HTTPExchange
    private let deadlines: Deadlines
    private let outcome: EventLoopPromise<HTTPAnswer>
    private var state = State.connecting
    private var timer: Scheduled<Void>?
    /// The time at which the last part of the response arrived or, before the first, at which the request was sent.
    private var lastPart = NIODeadline.now()

    private enum State {
        case connecting
        case waitingForHead
        case readingBody(HTTPResponseHead, [UInt8], begun: NIODeadline)
        case ended
    }

    init(_ exchange: HTTPExchange, _ deadlines: Deadlines, _ outcome: EventLoopPromise<HTTPAnswer>) {
        self.exchange = exchange
        self.deadlines = deadlines
        self.outcome = outcome
    }

    // MARK: Connecting

    func handlerAdded(context: ChannelHandlerContext) {
        if exchange.tls != nil {
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadlines.connect) {
                self.end(.failure(HTTPExchangeError.tlsHandshakeTimeout), context)
            }
        } else if context.channel.isActive {
            send(context)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        if exchange.tls == nil { send(context) }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event, let tls = exchange.tls {
            do {
                let handler = try context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
                guard tls.accepts(handler.peerCertificate) else { throw HTTPExchangeError.certificateNotAccepted }
                send(context)
            } catch {
                end(.failure(error), context)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func send(_ context: ChannelHandlerContext) {
        guard case .connecting = state else { return }
        state = .waitingForHead
        context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
        if !exchange.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: exchange.body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenFailure { error in
            self.end(.failure(error), context)
        }
        lastPart = context.eventLoop.now
        waitForPart(context)
    }

    /// Starts the timer for the idle timeout and the minimum rate. It is not restarted for each part.
    private func waitForPart(_ context: ChannelHandlerContext) {
        timer?.cancel()
        let deadline = min(idleDeadline, deadlines.total)
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            let now = context.eventLoop.now
            if now >= deadlines.total {
                end(.failure(HTTPExchangeError.totalTimeout), context)
            } else if now >= idleDeadline {
                end(.failure(HTTPExchangeError.idleTimeout), context)
            } else {
                waitForPart(context)
            }
        }
    }

    private var idleDeadline: NIODeadline { lastPart + .milliseconds(exchange.limits.idleTimeout.milliseconds) }

    // MARK: The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastPart = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .head(let head): read(head, context)
        case .body(let part): read(part, context)
        case .end: if case .readingBody(_, let body, _) = state { end(.success(body), context) }
        }
    }

    private func read(_ head: HTTPResponseHead, _ context: ChannelHandlerContext) {
        // Ignore interim responses, except for the one that ends HTTP on this connection.
        guard case .waitingForHead = state, head.status.code >= 200 || head.status == .switchingProtocols else {
            return
        }
        state = .readingBody(head, [], begun: lastPart)
        if !exchange.readsBody(head) { end(.success([]), context) }
    }

    private func read(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
        guard case .readingBody(let head, var body, let begun) = state else { return }
        // Otherwise the array would be copied with each part.
        state = .waitingForHead
        let limits = exchange.limits
        let fits = body.count + part.readableBytes <= limits.maximumBody
        if fits { body.append(contentsOf: part.readableBytesView) }
        let count = body.count
        state = .readingBody(head, body, begun: begun)
        guard fits else {
            end(.failure(HTTPExchangeError.bodyTooLarge(limit: limits.maximumBody)), context)
            return
        }
        guard let rate = limits.minimumRate else { return }
        let milliseconds = (lastPart - begun).nanoseconds / 1_000_000
        guard
            milliseconds < rate.after.milliseconds || Int64(count) * 1000 >= rate.octetsPerSecond * milliseconds
        else {
            end(.failure(HTTPExchangeError.tooSlow(octetsPerSecond: rate.octetsPerSecond)), context)
            return
        }
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.uncleanShutdown = error, !isEndedByClosing {
            // The connection was closed without a `close_notify`. The next event tells whether anything is missing.
            return
        }
        if case NIOHTTPDecompression.DecompressionError.limit = error {
            end(.failure(HTTPExchangeError.bodyTooLarge(limit: exchange.limits.maximumBody)), context)
        } else {
            end(.failure(error), context)
        }
    }

    /// Whether the end of the connection marks the end of the body, so that only TLS can detect truncation.
    private var isEndedByClosing: Bool {
        switch state {
        case .connecting: true
        case .readingBody(let head, _, _):
            !head.headers.contains(name: "Content-Length") && !head.headers.contains(name: "Transfer-Encoding")
        case .waitingForHead, .ended: false
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(HTTPExchangeError.connectionClosed), context)
        context.fireChannelInactive()
    }

    /// Closes the connection, and then delivers the response.
    private func end(_ body: Result<[UInt8], any Error>, _ context: ChannelHandlerContext) {
        let head: HTTPResponseHead?
        switch state {
        case .ended: return
        case .readingBody(let found, _, _): head = found
        case .connecting, .waitingForHead: head = nil
        }
        state = .ended
        timer?.cancel()
        timer = nil
        let answer = HTTPAnswer(head, body)
        context.channel.closeFuture.whenComplete { [outcome] _ in outcome.succeed(answer) }
        ConnectionGuard.closeNow(context.channel)
    }
}

@available(*, unavailable) extension ExchangeHandler: Sendable {}
