package import Host
package import NIOCore
package import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
package import NIOSSL
private import Synchronization

/// One HTTP/1.1 request over a connection of its own.
///
/// The connection is closed, and its timers are cancelled, before the answer is returned: nothing is held after it. What is
/// expensive, the certificates that are trusted, belongs to the caller (``TrustStore``).
package struct HTTPExchange: Sendable {
    package var destination: Destination
    /// `nil`: plain HTTP.
    package var tls: TLS?
    package var head: HTTPRequestHead
    package var body: [UInt8]
    package var limits: Limits
    /// Whether a body in gzip or deflate is asked for and decoded.
    package var decompresses = false
    /// Called on the event loop once with the head of the answer; `false` ends the exchange there, without its body.
    package var readsBody: @Sendable (HTTPResponseHead) -> Bool = { _ in true }

    /// What is connected to.
    package enum Destination: Sendable {
        /// An IP address in text.
        case address(String, port: Int)
        /// A name, which the system resolves; each of its addresses is tried.
        case host(String, port: Int)
        case unixSocket(String)
        /// A host by way of an HTTP proxy, which is asked by CONNECT.
        case tunnel(Tunnel)
    }

    package struct Tunnel: Sendable {
        let proxy: (host: String, port: Int)
        let target: (host: String, port: Int)
        /// The value of `Proxy-Authorization`.
        let authorization: String?

        package init(
            through proxy: (host: String, port: Int), to target: (host: String, port: Int), authorization: String?
        ) {
            self.proxy = proxy
            self.target = target
            self.authorization = authorization
        }
    }

    package struct TLS: Sendable {
        package var context: NIOSSLContext
        /// The name for SNI, and that the certificate must be for; `nil` where the server is known by its address.
        package var serverName: String?
        /// Called on the event loop with the server's certificate, which has been verified by then, before anything is sent. What
        /// it throws ends the exchange.
        package var check: @Sendable (NIOSSLCertificate?) throws -> Void

        package init(
            context: NIOSSLContext, serverName: String?,
            check: @escaping @Sendable (NIOSSLCertificate?) throws -> Void = { _ in }
        ) {
            self.context = context
            self.serverName = serverName
            self.check = check
        }
    }

    package struct Limits: Sendable {
        /// For the connection and its TLS handshake together.
        package var connectTimeout: Interval
        /// Until the head of the answer, and between any two parts of its body.
        package var idleTimeout: Interval
        /// Bytes, decoded.
        package var maximumBody: Int
        /// Bytes on the wire, in all.
        package var maximumOctets: Int
        /// A body that comes more slowly than this, in bytes a second, is given up once that long has passed.
        package var minimumRate: (octetsPerSecond: Int64, after: Interval)?

        package init(
            connectTimeout: Interval, idleTimeout: Interval, maximumBody: Int, maximumOctets: Int,
            minimumRate: (octetsPerSecond: Int64, after: Interval)? = nil
        ) {
            self.connectTimeout = connectTimeout
            self.idleTimeout = idleTimeout
            self.maximumBody = maximumBody
            self.maximumOctets = maximumOctets
            self.minimumRate = minimumRate
        }
    }

    package init(to destination: Destination, tls: TLS?, head: HTTPRequestHead, body: [UInt8] = [], limits: Limits) {
        self.destination = destination
        self.tls = tls
        self.head = head
        self.body = body
        self.limits = limits
    }

    /// Makes the exchange. Cancelled, it ends as if the server had closed the connection.
    package func perform(on loop: any EventLoop) async -> HTTPAnswer {
        let outcome = loop.makePromise(of: HTTPAnswer.self)
        let connecting = Connecting()
        let deadline = NIODeadline.now() + .milliseconds(limits.connectTimeout.milliseconds)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(.milliseconds(limits.connectTimeout.milliseconds))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionGuard(limit: limits.maximumOctets))
                    try connecting.add(channel)
                }
            }
        connect(bootstrap, on: loop).whenComplete { result in
            do {
                try self.begin(on: result.get(), deadline, outcome)
            } catch ChannelError.connectTimeout {
                outcome.succeed(HTTPAnswer(HTTPExchangeError.connectTimeout))
            } catch {
                if case .success(let channel) = result { ConnectionGuard.closeNow(channel) }
                outcome.succeed(HTTPAnswer(error))
            }
        }
        // The promise only ever succeeds.
        return await withTaskCancellationHandler {
            (try? await outcome.futureResult.get()) ?? HTTPAnswer(HTTPExchangeError.connectionClosed)
        } onCancel: {
            connecting.cancel()
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

    /// Begins to speak over a connection.
    private func begin(
        on channel: any Channel, _ deadline: NIODeadline, _ outcome: EventLoopPromise<HTTPAnswer>
    ) throws {
        guard case .tunnel(let tunnel) = destination else {
            try addHandlers(to: channel, deadline, outcome)
            return
        }
        let established = channel.eventLoop.makePromise(of: Void.self)
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        let asking = TunnelHandler(tunnel, deadline, established)
        let handlers = NIOLoopBound((encoder, decoder, asking), eventLoop: channel.eventLoop)
        established.futureResult.assumeIsolated().flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.2)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.1)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.0)
        }.flatMapThrowing {
            try self.addHandlers(to: channel, deadline, outcome)
        }.whenFailure { error in
            ConnectionGuard.closeNow(channel)
            outcome.succeed(HTTPAnswer(error))
        }
        do {
            try channel.pipeline.syncOperations.addHandlers(encoder, decoder, asking)
        } catch {
            established.fail(error)
            throw error
        }
    }

    private func addHandlers(
        to channel: any Channel, _ deadline: NIODeadline, _ outcome: EventLoopPromise<HTTPAnswer>
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandler(NIOSSLClientHandler(context: tls.context, serverHostname: tls.serverName))
        }
        try pipeline.addHandlers(
            HTTPRequestEncoder(),
            ByteToMessageHandler(
                HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)),
            NIOHTTPRequestHeadersValidator())
        if decompresses { try pipeline.addHandler(NIOHTTPResponseDecompressor(limit: .size(limits.maximumBody))) }
        try pipeline.addHandler(ExchangeHandler(self, deadline, outcome))
    }
}

/// What came of an exchange.
package struct HTTPAnswer: Sendable {
    /// `nil` where the exchange failed before the head had come.
    package let head: HTTPResponseHead?
    /// Empty where the body was not read.
    package let body: Result<[UInt8], any Error>

    init(_ head: HTTPResponseHead?, _ body: Result<[UInt8], any Error>) {
        self.head = head
        self.body = body
    }

    /// A failure without an answer.
    init(_ error: any Error) { self.init(nil, .failure(error)) }
}

/// The connections that an exchange tries, to be closed where it is cancelled.
private final class Connecting: Sendable {
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
