import Glibc
import HTTP
@testable import Keys
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// Error messages if the URL's scheme does not match the port, or if the port stays silent or closes.
@Suite struct WrongPortTests {
    private static let hint = ": if this port speaks TLS, write https:// instead of http://"
    private static let badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    /// The failure of a fetch from a server that reacts to its first bytes in this way.
    private func failure(
        _ scheme: String, _ reaction: FirstBytesHandler.Reaction, _ change: (inout NetworkRules) -> Void = { _ in }
    ) async throws -> FetchFailure? {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FirstBytesHandler(reaction))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        let failure = await #expect(throws: FetchFailure.self) {
            try await DocumentFetcher.onLoopback(change).fetch("\(scheme)://127.0.0.1:\(port)/")
        }
        try await server.close()
        return failure
    }

    // MARK: https

    @Test(arguments: [badRequest, "SSH-2.0-OpenSSH_9.2p1\r\n"])
    func `https to a port without TLS`(answer: String) async throws {
        #expect(try await failure("https", .answer(answer)) == FetchFailure(describing: .notTLS, isSecure: true))
    }

    @Test func `https to a port that closes`() async throws {
        #expect(try await failure("https", .close) == FetchFailure(describing: .closedInHandshake, isSecure: true))
    }

    @Test func `https to a port that stays silent`() async throws {
        // The timeout includes the connection, for which a busy machine may need all of it.
        let notConnected = FetchFailure(.connect, "no connection within the connect timeout")
        for timeout in [1, 10, 100] as [Int64] {
            let failure = try await failure("https", .silence) { $0.connectTimeout = .seconds(timeout) }
            if failure == notConnected { continue }
            #expect(failure == FetchFailure(describing: .tlsHandshakeTimeout, isSecure: true))
            return
        }
        Issue.record("the machine took longer than all of them to connect to itself")
    }

    // MARK: http

    /// The alert that OpenSSL sends to a client that does not start a handshake.
    @Test func `http to a port that answers with a TLS alert`() async throws {
        let failure = try await failure("http", .answer("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{46}"))
        #expect(failure == FetchFailure(.http, "the answer is not HTTP" + Self.hint))
    }

    /// As nginx and Go respond.
    @Test func `http to a TLS port that answers with status 400`() async throws {
        let failure = try await failure("http", .answer(Self.badRequest))
        var expected = FetchFailure(.http, "the server answered with status 400" + Self.hint)
        expected.isRefusal = true
        #expect(failure == expected)
    }

    @Test func `http to a port that closes`() async throws {
        let message = "the server closed the connection before its answer was complete"
        #expect(try await failure("http", .close) == FetchFailure(.http, message + Self.hint))
        // A response head has arrived, so the scheme is right.
        let cut = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
        #expect(try await failure("http", .answer(cut)) == FetchFailure(.http, message))
    }

    @Test func `http to a port that resets the connection`() async throws {
        let failure = try await failure("http", .reset)
        #expect(failure == FetchFailure(.connect, "the server reset the connection" + Self.hint))
    }

    @Test func `http to a port that stays silent`() async throws {
        let failure = try await failure("http", .silence) { $0.idleTimeout = .seconds(1) }
        let message = "the server accepted the connection, but did not answer in time"
        #expect(failure == FetchFailure(.http, message + Self.hint))
    }

    // MARK: close_notify

    /// The body ends with the connection. Only a `close_notify` distinguishes that from truncation by an attacker.
    @Test func `a close without close_notify`() async throws {
        let certificates = try Certificates.make()
        let context = try NIOSSLContext(configuration: certificates.make(.localhost).serverConfiguration())
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let tls = NIOSSLServerHandler(context: context)
                    try channel.pipeline.syncOperations.addHandlers(tls, UncleanAnswerHandler(below: tls))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        let failure = await #expect(throws: FetchFailure.self) {
            try await DocumentFetcher.onLoopback { $0.caFile = certificates.authority }
                .fetch("https://localhost:\(port)/")
        }
        #expect(failure == FetchFailure(describing: .uncleanShutdown, isSecure: true))
        try await server.close()
    }
}

/// Waits for the client's first bytes, reacts, and closes the connection.
private final class FirstBytesHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Reaction: Sendable {
        case answer(String)
        case close
        case reset
        /// The connection stays open.
        case silence
    }

    private let reaction: Reaction

    init(_ reaction: Reaction) { self.reaction = reaction }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch reaction {
        case .answer(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            context.close(promise: nil)
        case .close: context.close(promise: nil)
        case .reset:
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                .whenComplete { _ in bound.value.close(promise: nil) }
        case .silence: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Answers a request over TLS without a length, and closes the connection without `close_notify`.
private final class UncleanAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let tls: NIOSSLServerHandler

    init(below tls: NIOSSLServerHandler) { self.tls = tls }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bound = NIOLoopBound((context, tls), eventLoop: context.eventLoop)
        let answer = wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n{}"))
        context.writeAndFlush(answer).whenSuccess {
            let (context, tls) = bound.value
            // A close below the TLS handler bypasses it.
            (try? context.pipeline.syncOperations.context(handler: tls))?.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
