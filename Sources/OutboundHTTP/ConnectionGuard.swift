internal import NIOCore

/// Sits next to the socket: counts the bytes that come in, and can close the connection at once.
///
/// A body has a limit of its own. This one is for what comes around it, which the HTTP decoder reads without an end:
/// interim responses, trailers, a body in chunks of one byte.
final class ConnectionGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let limit: Int
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

    /// Closes a connection without waiting for the other side's `close_notify`.
    static func closeNow(_ channel: any Channel) {
        // Sends our own `close_notify`, where TLS is spoken.
        channel.close(promise: nil)
        if let context = try? channel.pipeline.syncOperations.context(handlerType: ConnectionGuard.self) {
            context.close(promise: nil)
        }
    }
}

@available(*, unavailable) extension ConnectionGuard: Sendable {}
