internal import NIOCore
private import NIOSSL
private import NIOTLS

/// Watches the TLS handshake of one connection: bounds its time, has its failure counted, and is gone once it is done.
final class TLSHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let onFailure: () -> Void
    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?
    private var isOver = false

    /// - Parameters:
    ///   - seconds: how long the handshake may take.
    ///   - onFailure: called once, if it fails.
    init(within seconds: Int64, onFailure: @escaping () -> Void) {
        self.onFailure = onFailure
        timeout = .seconds(seconds)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: timeout) {
            let (handshake, context) = bound.value
            handshake.fail()
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case TLSUserEvent.handshakeCompleted = event else { return }
        isOver = true
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Whoever only looks whether the port is open, as load balancers do, has failed at nothing.
        if case NIOSSLError.handshakeFailed(let reason) = error, reason != .sslError([.eofDuringHandshake]) { fail() }
        context.fireErrorCaught(error)
    }

    private func fail() {
        guard !isOver else { return }
        isOver = true
        onFailure()
    }
}

@available(*, unavailable) extension TLSHandshake: Sendable {}
