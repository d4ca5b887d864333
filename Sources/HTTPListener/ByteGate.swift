internal import NIOCore

/// Stands before the decoder and gives it bytes only while the connection can do something with them.
///
/// The decoder makes requests of all that it is given: a few bytes each, they take many times that once they are decoded. So
/// it is given little at a time, and what has to wait waits as bytes.
final class ByteGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: HTTPConnection
    private var context: ChannelHandlerContext?
    private var held = ByteBuffer()
    private var isPassing = false
    /// That the other side has closed its half, to be told behind the bytes that wait: the decoder takes none after it.
    private var endOfInput: ChannelEvent?

    /// More than nearly every request, so that it goes through whole.
    private static let portion = 16 * 1024

    init(_ connection: HTTPConnection) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection.gate = self
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        connection.gate = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if held.readableBytes > 0 {
            held.writeBuffer(&bytes)
        } else {
            held = bytes
        }
        open()
    }

    /// How many bytes wait here.
    var heldBytes: Int { held.readableBytes }

    /// Whether more than what the connection has seen is on its way to it.
    var hasMore: Bool { isPassing || held.readableBytes > 0 }

    /// Lets bytes through, as long as the connection takes them.
    func open() {
        guard let context else { return }
        while held.readableBytes > 0, connection.takesBytes {
            guard let portion = held.readSlice(length: min(held.readableBytes, Self.portion)) else { return }
            connection.bytesArrive()
            isPassing = true
            context.fireChannelRead(wrapInboundOut(portion))
            isPassing = false
        }
        guard held.readableBytes == 0 else { return }
        held = ByteBuffer()
        if let event = endOfInput {
            endOfInput = nil
            context.fireUserInboundEventTriggered(event)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed, hasMore {
            endOfInput = event
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Forgets what waits here.
    func drop() {
        held = ByteBuffer()
        if !isPassing { open() }
    }
}

@available(*, unavailable) extension ByteGate: Sendable {}
