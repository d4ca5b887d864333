private import Glibc
package import NIOCore
package import NIOHTTP1
private import Synchronization

/// An open connection to a server, for successive exchanges. It belongs to the event loop that dialed it, where
/// all its methods are called.
package final class ClientConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<ClientHandler>

    init(_ channel: any Channel, _ handler: ClientHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Whether it is open, and no exchange is in progress. If it is `false`, nothing of an exchange would be sent.
    package var isIdle: Bool { handler.value.isIdle }

    /// Whether a connection that was kept can be used again: it is idle, and the server has neither closed it nor sent
    /// anything, even just now.
    package var isReusable: Bool { isIdle && isQuiet }

    /// Whether an idle connection is still open and nothing waits to be read. Otherwise its server has closed it, is
    /// about to, or sent unsolicited data. Reads nothing.
    ///
    /// Asks the socket itself, because the event loop notices new input only in its next turn.
    private var isQuiet: Bool {
        do {
            let isQuiet = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
                (socket: NIOBSDSocket.Handle) in
                var octet: UInt8 = 0
                let count = unsafe recv(socket, &octet, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
                return count < 0 && errno == EAGAIN
            }
            // A channel without a socket has nothing to inspect.
            return isQuiet ?? true
        } catch {
            return false
        }
    }

    /// Sends a request, and reads the response. The future never fails.
    ///
    /// The connection is closed before the future completes, unless it can be kept.
    package func exchange(_ request: ClientRequest) -> EventLoopFuture<HTTPAnswer> {
        let outcome = channel.eventLoop.makePromise(of: HTTPAnswer.self)
        handler.value.begin(request, outcome)
        return outcome.futureResult
    }

    /// Closes the connection. An exchange in progress ends as if the server had closed it.
    package func close() { ConnectionGuard.closeNow(channel) }

    /// Completes when the connection is closed, by whichever side.
    package var closed: EventLoopFuture<Void> { channel.closeFuture }
}

/// A request on a connection that is open already.
package struct ClientRequest: Sendable {
    package var head: HTTPRequestHead
    package var body: ByteBuffer
    /// Until the head of the response, and between parts of its body.
    package var idleTimeout: Interval
    /// For the end of the response.
    package var deadline: NIODeadline
    /// In bytes, after decompression.
    package var maximumBody: Int
    /// In bytes on the wire beyond ``maximumBody``.
    package var maximumOverhead: Int
    /// The minimum rate of the body in bytes per second. Once `after` has passed, a slower exchange is aborted.
    var minimumRate: (octetsPerSecond: Int64, after: Interval)?
    /// Called with the head of the response; `false` ends the exchange without reading the body.
    var readsBody: @Sendable (HTTPResponseHead) -> Bool = { _ in true }
    /// Whether the connection may stay open for another exchange.
    package var keepsConnection: Bool

    package init(
        head: HTTPRequestHead, body: ByteBuffer, idleTimeout: Interval, deadline: NIODeadline, maximumBody: Int,
        maximumOverhead: Int, keepsConnection: Bool
    ) {
        self.head = head
        self.body = body
        self.idleTimeout = idleTimeout
        self.deadline = deadline
        self.maximumBody = maximumBody
        self.maximumOverhead = maximumOverhead
        self.keepsConnection = keepsConnection
    }
}

/// Sits next to the socket: counts received bytes, and can close the connection at once.
///
/// The body has its own limit. This one covers everything else, which the HTTP decoder would read endlessly: interim
/// responses, trailers, and the overhead of tiny chunks.
final class ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var limit: Int
    private var count = 0

    init(limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        guard count <= limit else {
            context.fireErrorCaught(HTTPExchangeError.tooManyOctets(limit: limit))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    /// Starts to count again, for another exchange.
    static func restart(_ channel: any Channel, limit: Int) {
        guard let handler = try? channel.pipeline.syncOperations.handler(type: ConnectionGuard.self) else { return }
        handler.count = 0
        handler.limit = limit
    }

    /// Closes a connection without waiting for the peer's `close_notify`.
    static func closeNow(_ channel: any Channel) {
        // Sends our own `close_notify` if the connection uses TLS.
        channel.close(promise: nil)
        if let context = try? channel.pipeline.syncOperations.context(handlerType: ConnectionGuard.self) {
            context.close(promise: nil)
        }
    }
}

@available(*, unavailable) extension ConnectionGuard: Sendable {}

/// Keeps a connection for the next exchange with the same server. Its owner closes it after the last one.
package final class KeptConnection: Sendable {
    private let state = Mutex(State())

    private struct State {
        var server = ""
        var destination: HTTPExchange.Destination?
        var connection: ClientConnection?
        var isClosed = false
    }

    package init() {}

    /// Where the connection to a server leads; `nil` if there is none yet. One to another server is closed.
    ///
    /// - Parameter server: identifies it, for example by its scheme, host and port.
    package func destination(of server: String) -> HTTPExchange.Destination? {
        let (destination, other) = state.withLock { state in
            if state.server == server { return (state.destination, nil as ClientConnection?) }
            defer { (state.server, state.destination, state.connection) = (server, nil, nil) }
            return (nil, state.connection)
        }
        other?.closeSoon()
        return destination
    }

    /// The connection, if another exchange can use it. If not, it is closed, before another one is opened. Called on its
    /// event loop.
    func reuse() -> ClientConnection? {
        guard let connection = state.withLock({ $0.connection }) else { return nil }
        if connection.isReusable { return connection }
        connection.close()
        return nil
    }

    /// Keeps a new connection.
    func keep(_ connection: ClientConnection, to destination: HTTPExchange.Destination) {
        let isClosed = state.withLock { state in
            (state.destination, state.connection) = (destination, connection)
            return state.isClosed
        }
        if isClosed { connection.closeSoon() }
    }

    /// Closes the connection, and those that are opened later. An exchange in progress ends as if the server had closed
    /// it.
    ///
    /// - Returns: succeeds once that has begun; `nil` if there is no connection.
    @discardableResult
    package func close() -> EventLoopFuture<Void>? {
        let connection = state.withLock { state in
            state.isClosed = true
            return state.connection
        }
        return connection?.closeSoon()
    }
}

extension ClientConnection {
    /// Closes the connection. May be called anywhere.
    @discardableResult
    fileprivate func closeSoon() -> EventLoopFuture<Void> { closed.eventLoop.submit { self.close() } }
}
