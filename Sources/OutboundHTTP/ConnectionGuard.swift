internal import NIOCore

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
