internal import NIOCore
internal import NIOHTTP1
private import NIOHTTPCompression
private import NIOSSL
private import NIOTLS

/// Waits until a connection is open, then sends the requests of successive exchanges, and collects the responses.
final class ClientHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let tls: HTTPExchange.TLS?
    private let dialDeadline: NIODeadline
    private var state: State
    /// The exchange in progress.
    private var current: Current?
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    /// The time at which the last part of the response arrived or, before the first, at which the request was sent.
    private var lastPart = NIODeadline.now()

    private enum State {
        case dialing(EventLoopPromise<Void>)
        case idle
        case waitingForHead
        case readingBody(HTTPResponseHead, [UInt8], begun: NIODeadline)
        case ended
    }

    private struct Current {
        let request: ClientRequest
        let outcome: EventLoopPromise<HTTPAnswer>
        /// Whether all of it has been handed to the system.
        var isWritten = false
    }

    /// - Parameters:
    ///   - dialDeadline: for the TLS handshake.
    ///   - opened: succeeds once the connection is open, or fails after it was closed.
    init(_ tls: HTTPExchange.TLS?, _ dialDeadline: NIODeadline, _ opened: EventLoopPromise<Void>) {
        self.tls = tls
        self.dialDeadline = dialDeadline
        state = .dialing(opened)
    }

    // MARK: Connecting

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if tls != nil {
            timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: dialDeadline) {
                self.end(.failure(HTTPExchangeError.tlsHandshakeTimeout), context)
            }
        } else if context.channel.isActive {
            opened()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if tls == nil { opened() }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event, let tls {
            do {
                let handler = try context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
                guard tls.accepts(handler.peerCertificate) else { throw HTTPExchangeError.certificateNotAccepted }
                opened()
            } catch {
                end(.failure(error), context)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func opened() {
        guard case .dialing(let opened) = state else { return }
        timer?.cancel()
        timer = nil
        state = .idle
        opened.succeed()
    }

    // MARK: The request

    var isIdle: Bool {
        guard case .idle = state, let context else { return false }
        return context.channel.isActive
    }

    /// Whether a request was sent, and its response is not complete.
    var awaitsResponse: Bool {
        switch state {
        case .waitingForHead, .readingBody: true
        case .dialing, .idle, .ended: false
        }
    }

    /// Closes the connection, because the server sent something that belongs to no request.
    func refuseUnsolicited(_ context: ChannelHandlerContext) {
        end(.failure(HTTPExchangeError.notHTTP), context)
    }

    /// Sends a request. On a connection that is not idle, the exchange fails.
    func begin(_ request: ClientRequest, _ outcome: EventLoopPromise<HTTPAnswer>) {
        guard isIdle, let context else { return outcome.succeed(HTTPAnswer(HTTPExchangeError.connectionClosed)) }
        current = Current(request: request, outcome: outcome)
        state = .waitingForHead
        ConnectionGuard.restart(context.channel, limit: request.maximumBody + request.maximumOverhead)
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if request.body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(request.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.current?.isWritten = true
            case .failure(let error): self.end(.failure(error), context)
            }
        }
        lastPart = context.eventLoop.now
        waitForPart(context)
    }

    /// Starts the timer for the idle timeout and the deadline. It is not restarted for each part.
    private func waitForPart(_ context: ChannelHandlerContext) {
        guard let request = current?.request else { return }
        timer?.cancel()
        let idleDeadline = lastPart + .milliseconds(request.idleTimeout.milliseconds)
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: min(idleDeadline, request.deadline)) {
            [self] in
            let now = context.eventLoop.now
            if now >= request.deadline {
                end(.failure(HTTPExchangeError.totalTimeout), context)
            } else if now >= lastPart + .milliseconds(request.idleTimeout.milliseconds) {
                end(.failure(HTTPExchangeError.idleTimeout), context)
            } else {
                waitForPart(context)
            }
        }
    }

    // MARK: The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastPart = context.eventLoop.now
        switch unwrapInboundIn(data) {
        case .head(let head): read(head, context)
        case .body(let part): read(part, context)
        case .end: if case .readingBody(let head, let body, _) = state { finish(head, body, context) }
        }
    }

    private func read(_ head: HTTPResponseHead, _ context: ChannelHandlerContext) {
        // Ignore interim responses, except for the one that ends HTTP on this connection.
        guard case .waitingForHead = state, head.status.code >= 200 || head.status == .switchingProtocols else {
            return
        }
        state = .readingBody(head, [], begun: lastPart)
        if current?.request.readsBody(head) == false { end(.success([]), context) }
    }

    private func read(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
        guard case .readingBody(let head, var body, let begun) = state, let request = current?.request else { return }
        // Otherwise the array would be copied with each part.
        state = .waitingForHead
        let fits = body.count + part.readableBytes <= request.maximumBody
        if fits { body.append(contentsOf: part.readableBytesView) }
        let count = body.count
        state = .readingBody(head, body, begun: begun)
        guard fits else {
            return end(.failure(HTTPExchangeError.bodyTooLarge(limit: request.maximumBody)), context)
        }
        guard let rate = request.minimumRate else { return }
        let milliseconds = (lastPart - begun).nanoseconds / 1_000_000
        if milliseconds >= rate.after.milliseconds, Int64(count) * 1000 < rate.octetsPerSecond * milliseconds {
            end(.failure(HTTPExchangeError.tooSlow(octetsPerSecond: rate.octetsPerSecond)), context)
        }
    }

    // MARK: The end

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.uncleanShutdown = error, !isEndedByClosing {
            // The connection was closed without a `close_notify`. The next event tells whether anything is missing.
            return
        }
        if case NIOHTTPDecompression.DecompressionError.limit = error, let request = current?.request {
            end(.failure(HTTPExchangeError.bodyTooLarge(limit: request.maximumBody)), context)
        } else {
            end(.failure(error), context)
        }
    }

    /// Whether the end of the connection marks the end of the body, so that only TLS can detect truncation.
    private var isEndedByClosing: Bool {
        switch state {
        case .dialing: true
        case .readingBody(let head, _, _):
            !head.headers.contains(name: "Content-Length") && !head.headers.contains(name: "Transfer-Encoding")
        case .idle, .waitingForHead, .ended: false
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(HTTPExchangeError.connectionClosed), context)
        context.fireChannelInactive()
    }

    /// Delivers a complete response, and keeps the connection if both sides agree.
    private func finish(_ head: HTTPResponseHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
        // A server that answers before it has the whole request may not read the rest of it.
        guard let current, current.request.keepsConnection, current.isWritten, head.isKeepAlive,
            head.status != .switchingProtocols, context.channel.isActive
        else { return end(.success(body), context) }
        state = .idle
        timer?.cancel()
        timer = nil
        self.current = nil
        let answer = HTTPAnswer(head, .success(body))
        // Later in this turn, so that ``ResponseBoundary`` first closes the connection if more follows.
        context.eventLoop.execute { current.outcome.succeed(answer) }
    }

    /// Closes the connection, and then delivers the response.
    private func end(_ body: Result<[UInt8], any Error>, _ context: ChannelHandlerContext) {
        let head: HTTPResponseHead?
        var opened: EventLoopPromise<Void>?
        switch state {
        case .ended: return
        case .readingBody(let found, _, _): head = found
        case .dialing(let promise): (head, opened) = (nil, promise)
        case .idle, .waitingForHead: head = nil
        }
        state = .ended
        timer?.cancel()
        timer = nil
        let (outcome, answer) = (current?.outcome, HTTPAnswer(head, body))
        current = nil
        context.channel.closeFuture.whenComplete { [opened] _ in
            outcome?.succeed(answer)
            if case .failure(let error) = answer.body { opened?.fail(error) }
        }
        ConnectionGuard.closeNow(context.channel)
    }
}

@available(*, unavailable) extension ClientHandler: Sendable {}

/// Closes a connection as soon as the server sends a byte that belongs to no request: while none is pending, or behind
/// the end of a response.
///
/// It sits in front of the HTTP decoder. The decoder would keep the beginning of such a response without a sign of it,
/// and read it as the beginning of the next one, so that a user could get the response to another user's request.
final class ResponseBoundary: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let client: ClientHandler

    init(_ client: ClientHandler) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var octets = unwrapInboundIn(data)
        // The decoder doesn't tell how many bytes belonged to the response. So the last byte is passed on alone: if the
        // response was complete before it, there are too many.
        if let first = octets.readSlice(length: max(octets.readableBytes - 1, 0)), first.readableBytes > 0 {
            pass(first, context)
        }
        pass(octets, context)
    }

    private func pass(_ octets: ByteBuffer, _ context: ChannelHandlerContext) {
        guard client.awaitsResponse else { return client.refuseUnsolicited(context) }
        context.fireChannelRead(wrapInboundOut(octets))
    }
}

@available(*, unavailable) extension ResponseBoundary: Sendable {}
