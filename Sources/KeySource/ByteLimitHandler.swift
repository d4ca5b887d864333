internal import NIOCore

/// Ends a connection that has brought more bytes than any answer that is taken could need.
///
/// The body has a limit of its own. This one is for what comes around it, which the client library reads without an end:
/// interim responses, trailers, a body in pieces of one byte.
final class ByteLimitHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let limit: Int
    private var count = 0

    init(_ limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        guard count <= limit else {
            context.fireErrorCaught(FetchFailure(.http, "the answer is larger than \(limit) bytes with all its parts"))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}

@available(*, unavailable) extension ByteLimitHandler: Sendable {}
