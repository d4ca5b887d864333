package import NIOCore
internal import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL
private import Synchronization

/// Opens a connection: TCP, the tunnel through a proxy, TLS. Nothing of a request is sent.
package struct HTTPDialer: Sendable {
    private let destination: HTTPExchange.Destination
    /// `nil` for plain HTTP.
    private let tls: HTTPExchange.TLS?
    private let timeout: Interval
    private let maximumOctets: Int
    private let decompressionLimit: Int?

    /// - Parameters:
    ///   - timeout: for the connection and the TLS handshake together.
    ///   - maximumOctets: in bytes on the wire, until an exchange sets another limit.
    ///   - decompressionLimit: of compressed bodies, in bytes after decompression; `nil` if the exchange requests none.
    package init(
        to destination: HTTPExchange.Destination, tls: HTTPExchange.TLS?, timeout: Interval, maximumOctets: Int,
        decompressionLimit: Int? = nil
    ) {
        self.destination = destination
        self.tls = tls
        self.timeout = timeout
        self.maximumOctets = maximumOctets
        self.decompressionLimit = decompressionLimit
    }

    /// Opens a connection that belongs to an event loop. If the task is cancelled, this fails, or the connection is
    /// closed soon.
    ///
    /// - Throws: ``HTTPExchangeError``.
    package func dial(on loop: any EventLoop) async throws(HTTPExchangeError) -> ClientConnection {
        let attempts = DialAttempts()
        let outcome = await withTaskCancellationHandler { () -> Result<ClientConnection, HTTPExchangeError> in
            do {
                return .success(try await dial(on: loop, attempts).get())
            } catch {
                return .failure(HTTPExchangeError(error))
            }
        } onCancel: {
            attempts.cancel()
        }
        return try outcome.get()
    }

    /// - Parameter attempts: collects what has to be closed if the caller is cancelled.
    /// - Returns: on that loop. If it fails, the connection is closed.
    func dial(on loop: any EventLoop, _ attempts: DialAttempts) -> EventLoopFuture<ClientConnection> {
        let deadline = NIODeadline.now() + .milliseconds(timeout.milliseconds)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(.milliseconds(timeout.milliseconds))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionGuard(limit: maximumOctets))
                    try attempts.add(channel)
                }
            }
        return connect(bootstrap, on: loop).flatMap { channel in
            openTunnel(on: channel, deadline).flatMapThrowing {
                try addHandlers(to: channel, deadline)
            }.flatMap(\.self).flatMapError { error in
                ConnectionGuard.closeNow(channel)
                return channel.closeFuture.flatMapThrowing { throw error }
            }
        }
    }

    private func connect(_ bootstrap: ClientBootstrap, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        switch destination {
        case .address(let address, let port):
            do {
                return bootstrap.connect(to: try SocketAddress(ipAddress: address, port: port))
            } catch {
                return loop.makeFailedFuture(error)
            }
        case .host(let host, let port): return bootstrap.connect(host: host, port: port)
        case .unixSocket(let path): return bootstrap.connect(unixDomainSocketPath: path)
        case .tunnel(let tunnel): return bootstrap.connect(host: tunnel.proxy.host, port: tunnel.proxy.port)
        }
    }

    private func openTunnel(on channel: any Channel, _ deadline: NIODeadline) -> EventLoopFuture<Void> {
        guard case .tunnel(let tunnel) = destination else { return channel.eventLoop.makeSucceededVoidFuture() }
        let established = channel.eventLoop.makePromise(of: Void.self)
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        let asking = TunnelHandler(tunnel, deadline, established)
        let handlers = NIOLoopBound((encoder, decoder, asking), eventLoop: channel.eventLoop)
        do {
            try channel.pipeline.syncOperations.addHandlers(encoder, decoder, asking)
        } catch {
            established.fail(error)
        }
        return established.futureResult.assumeIsolated().flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.2)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.1)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.0)
        }.nonisolated()
    }

    /// - Returns: the connection, once TLS is established.
    private func addHandlers(
        to channel: any Channel, _ deadline: NIODeadline
    ) throws -> EventLoopFuture<ClientConnection> {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandler(NIOSSLClientHandler(context: tls.context, serverHostname: tls.serverName))
        }
        let opened = channel.eventLoop.makePromise(of: Void.self)
        let handler = ClientHandler(tls, deadline, opened)
        do {
            try pipeline.addHandlers(
                ResponseBoundary(handler), HTTPRequestEncoder(),
                ByteToMessageHandler(
                    HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)),
                NIOHTTPRequestHeadersValidator())
            if let decompressionLimit {
                try pipeline.addHandler(NIOHTTPResponseDecompressor(limit: .size(decompressionLimit)))
            }
            try pipeline.addHandler(handler)
        } catch {
            opened.fail(error)
        }
        let connection = ClientConnection(channel, handler)
        return opened.futureResult.map { connection }
    }
}

/// The connection attempts of a call, which are closed if it is cancelled.
final class DialAttempts: Sendable {
    private let state = Mutex<(channels: [any Channel], isCancelled: Bool)>(([], false))

    func add(_ channel: any Channel) throws {
        try state.withLock { state in
            if state.isCancelled { throw CancellationError() }
            state.channels.append(channel)
        }
    }

    func cancel() {
        let channels = state.withLock { state in
            state.isCancelled = true
            return state.channels
        }
        for channel in channels { channel.eventLoop.execute { ConnectionGuard.closeNow(channel) } }
    }
}

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
