internal import NIOCore
internal import NIOSSL
private import NIOTLS

/// Watches the TLS handshake of one connection: bounds its time, reports its failure, lets in only clients that have one of
/// the listed names, and is gone once it is done.
final class TLSHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let onFailure: (HandshakeFailure) -> Void
    private let timeout: TimeAmount
    private let tls: NIOSSLServerHandler
    /// `nil`: any client that the authorities vouch for.
    private let clientNames: [String]?
    private var timer: Scheduled<Void>?
    private var isOver = false

    /// - Parameters:
    ///   - tls: the handler whose handshake it is.
    ///   - clientNames: the names of which a client's certificate must have one.
    ///   - seconds: how long the handshake may take.
    ///   - onFailure: called once, if it fails.
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
        // Here and not where the certificate is verified: a session that is resumed has a certificate, and verifies none.
        let listedName = clientNames.flatMap { names?.first(of: $0) }
        guard clientNames == nil || listedName != nil else {
            fail(.clientNameNotListed)
            // What the client has sent already is not read: this handler stays, and drops it.
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
        // Whoever only looks whether the port is open, as load balancers do, has failed at nothing.
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
