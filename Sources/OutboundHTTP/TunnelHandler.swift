internal import NIOCore
internal import NIOHTTP1

/// Requests a tunnel to a host from an HTTP proxy, by CONNECT (RFC 9110, section 9.3.6).
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let tunnel: HTTPExchange.Tunnel
    private let deadline: NIODeadline
    private let established: EventLoopPromise<Void>
    private var timer: Scheduled<Void>?
    private var hasAsked = false
    private var status: UInt = 0

    /// - Parameters:
    ///   - deadline: for the proxy's response.
    ///   - established: succeeds once the tunnel is open, or fails.
    init(_ tunnel: HTTPExchange.Tunnel, _ deadline: NIODeadline, _ established: EventLoopPromise<Void>) {
        self.tunnel = tunnel
        self.deadline = deadline
        self.established = established
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { ask(context) } }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelActive(context: ChannelHandlerContext) {
        ask(context)
        context.fireChannelActive()
    }

    private func ask(_ context: ChannelHandlerContext) {
        guard !hasAsked else { return }
        hasAsked = true
        let host = tunnel.target.host.contains(":") ? "[\(tunnel.target.host)]" : tunnel.target.host
        let authority = "\(host):\(tunnel.target.port)"
        var head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: authority, headers: ["Host": authority])
        if let authorization = tunnel.authorization {
            head.headers.add(name: "Proxy-Authorization", value: authorization)
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [established] in
            established.fail(HTTPExchangeError.connectTimeout)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = head.status.code
            if status >= 300 { established.fail(HTTPExchangeError.proxyRefused(status: status)) }
        case .body: established.fail(HTTPExchangeError.proxyRefused(status: status))
        case .end: established.succeed()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { established.fail(error) }

    func channelInactive(context: ChannelHandlerContext) {
        established.fail(HTTPExchangeError.connectionClosed)
        context.fireChannelInactive()
    }
}

@available(*, unavailable) extension TunnelHandler: Sendable {}
