internal import NIOCore

/// Tells a connection that bytes have come before its decoder has made anything of them: a head that trickles in is no
/// event of the decoder's.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTPConnection

    init(_ connection: HTTPConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.bytesArrived() { context.fireChannelRead(data) }
    }
}

@available(*, unavailable) extension ArrivalHandler: Sendable {}
