private import Host
package import NIOCore
private import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL
private import Synchronization

extension HTTPExchange {
    /// Performs the exchange. If the task is cancelled, it ends as if the server had closed the connection.
    package func perform(on loop: any EventLoop) async -> HTTPAnswer {
        let outcome = loop.makePromise(of: HTTPAnswer.self)
        let connecting = Connecting()
        let deadlines = Deadlines(limits)
        let maximumOctets = limits.maximumBody + limits.maximumOverhead
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(.milliseconds(limits.connectTimeout.milliseconds))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ConnectionGuard(limit: maximumOctets))
                    try connecting.add(channel)
                }
            }
        connect(bootstrap, on: loop).whenComplete { result in
            do {
                try self.begin(on: result.get(), deadlines, outcome)
            } catch {
                if case .success(let channel) = result { ConnectionGuard.closeNow(channel) }
                outcome.succeed(HTTPAnswer(error))
            }
        }
        // The promise never fails.
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

    /// Starts the exchange on an open connection.
    private func begin(
        on channel: any Channel, _ deadlines: Deadlines, _ outcome: EventLoopPromise<HTTPAnswer>
    ) throws {
        guard case .tunnel(let tunnel) = destination else {
            try addHandlers(to: channel, deadlines, outcome)
            return
        }
        let established = channel.eventLoop.makePromise(of: Void.self)
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        let asking = TunnelHandler(tunnel, deadlines.connect, established)
        let handlers = NIOLoopBound((encoder, decoder, asking), eventLoop: channel.eventLoop)
        established.futureResult.assumeIsolated().flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.2)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.1)
        }.flatMap {
            channel.pipeline.syncOperations.removeHandler(handlers.value.0)
        }.flatMapThrowing {
            try self.addHandlers(to: channel, deadlines, outcome)
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
        to channel: any Channel, _ deadlines: Deadlines, _ outcome: EventLoopPromise<HTTPAnswer>
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
        try pipeline.addHandler(ExchangeHandler(self, deadlines, outcome))
    }
}

/// The deadlines of an exchange's phases.
struct Deadlines {
    /// For the connection and its TLS handshake.
    let connect: NIODeadline
    let total: NIODeadline

    init(_ limits: HTTPExchange.Limits) {
        let now = NIODeadline.now()
        connect = now + .milliseconds(limits.connectTimeout.milliseconds)
        total = limits.totalTimeout.map { now + .milliseconds($0.milliseconds) } ?? .distantFuture
    }
}

/// The connection attempts of an exchange, which are closed if it is cancelled.
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
