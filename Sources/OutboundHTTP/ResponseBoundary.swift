internal import NIOCore

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
