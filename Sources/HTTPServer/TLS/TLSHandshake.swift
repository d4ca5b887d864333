internal import NIOCore
internal import NIOSSL
private import NIOTLS

/// Watches the TLS handshake of one connection: limits its time, reports its failure, and admits only clients with one
/// of the listed names. It removes itself after the handshake.
final class TLSHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let onFailure: (HandshakeFailure) -> Void
    private let timeout: TimeAmount
    private let tls: NIOSSLServerHandler
    /// `nil` for any client with a certificate of the CAs.
    private let clientNames: [String]?
    private var timer: Scheduled<Void>?
    private var isOver = false

    /// - Parameters:
    ///   - tls: the handler that performs the handshake.
    ///   - clientNames: the names, one of which a client's certificate must have.
    ///   - seconds: the timeout of the handshake.
    ///   - onFailure: called once if it fails.
    init(
        of tls: NIOSSLServerHandler, clientNames: [String]?, within seconds: Int64,
        onFailure: @escaping (HandshakeFailure) -> Void
    ) {
        self.tls = tls
        self.clientNames = clientNames
        self.onFailure = onFailure
        timeout = .seconds(seconds)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: timeout) {
            let (handshake, context) = bound.value
            handshake.fail(.timeout)
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted = event else { return context.fireUserInboundEventTriggered(event) }
        let names = tls.peerCertificate.map(ClientNames.init)
        // Checked here and not during certificate verification, because a resumed session does not verify its
        // certificate again.
        let listedName = clientNames.flatMap { names?.first(of: $0) }
        guard clientNames == nil || listedName != nil else {
            fail(.clientNameNotListed)
            // This handler stays, and discards what the client has already sent.
            return context.close(promise: nil)
        }
        isOver = true
        context.fireUserInboundEventTriggered(event)
        if let name = listedName ?? names?.shown { context.fireUserInboundEventTriggered(ClientIdentified(name: name)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !hasFailed { context.fireChannelRead(data) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Closing without a handshake, like the port check of a load balancer, is not a failure.
        if case NIOSSLError.handshakeFailed(let reason) = error, reason != .sslError([.eofDuringHandshake]) {
            fail(HandshakeFailure(reason))
        }
        context.fireErrorCaught(error)
    }

    private var hasFailed = false

    private func fail(_ failure: HandshakeFailure) {
        guard !isOver else { return }
        isOver = true
        hasFailed = true
        onFailure(failure)
    }
}

@available(*, unavailable) extension TLSHandshake: Sendable {}
