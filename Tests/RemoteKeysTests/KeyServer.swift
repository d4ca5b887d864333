import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// A provider on loopback: its discovery document and its keys, which a test changes, or an outage.
final class KeyServer: Sendable {
    private let state = Mutex(State())
    let port: Int
    private let channel: any Channel
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    private struct State {
        var keys: [TestKey]? = [.p256]
        var paths: [String] = []
    }

    var issuer: String { "http://127.0.0.1:\(port)" }
    /// The paths of all requests so far.
    var paths: [String] { state.withLock { $0.paths } }

    private init(_ channel: any Channel) {
        self.channel = channel
        port = channel.localAddress?.port ?? 0
    }

    static func run(_ body: (KeyServer) async throws -> Void) async throws {
        let box = Mutex<KeyServer?>(nil)
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Answering { path in box.withLock { $0 }?.answer(path) ?? "" })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = KeyServer(channel)
        box.withLock { $0 = server }
        do {
            try await body(server)
        } catch {
            try? await channel.close()
            throw error
        }
        try await channel.close()
    }

    /// - Parameter keys: `nil`: an outage.
    func publish(_ keys: [TestKey]?) { state.withLock { $0.keys = keys } }

    private func answer(_ path: String) -> String {
        let keys = state.withLock { state in
            state.paths.append(path)
            return state.keys
        }
        guard let keys else { return "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n" }
        let body =
            path == "/keys"
            ? text(jwkSet(keys.map { $0.jwk() }))
            : #"{"issuer":"\#(issuer)","jwks_uri":"\#(issuer)/keys","id_token_signing_alg_values_supported":["ES256","RS256"]}"#
        return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}

private final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: (String) -> String
    private var received = ""

    init(_ answer: @escaping (String) -> String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard received.hasSuffix("\r\n\r\n") else { return }
        let path = received.split(separator: " ")[1]
        received = ""
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer(String(path)))), promise: nil)
    }
}
