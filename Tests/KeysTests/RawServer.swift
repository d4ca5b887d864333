import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP server on loopback that answers with arbitrary bytes and records requests.
final class RawServer: Sendable {
    /// The reaction to a request.
    enum Answer: Sendable {
        case bytes(String)
        case octets([UInt8])
        /// Closes the connection after these bytes.
        case bytesAndClose(String)
        /// Repeats the text until the client closes the connection.
        case forever(String, before: String)
        case silence
    }

    private let channel: any Channel
    private let heads = Mutex<[String]>([])
    private let connections = Mutex((opened: 0, open: 0))
    /// Not the event loops of the clients.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let port: Int

    /// - Parameter answer: called with a request's head, which begins with a line such as `GET /path HTTP/1.1`.
    static func run<Value>(
        tls: TLSConfiguration? = nil, answering answer: @escaping @Sendable (String) -> Answer,
        _ body: (RawServer) async throws -> Value
    ) async throws -> Value {
        let box = Mutex<RawServer?>(nil)
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        let channel = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    box.withLock { $0 }?.count(channel)
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(
                        AnsweringHandler { head in
                            box.withLock { $0 }?.heads.withLock { $0.append(head) }
                            return answer(head)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = RawServer(channel)
        box.withLock { $0 = server }
        do {
            let value = try await body(server)
            try await channel.close()
            return value
        } catch {
            try? await channel.close()
            throw error
        }
    }

    private init(_ channel: any Channel) {
        self.channel = channel
        port = channel.localAddress?.port ?? 0
    }

    private func count(_ channel: any Channel) {
        connections.withLock { $0 = ($0.opened + 1, $0.open + 1) }
        channel.closeFuture.whenComplete { _ in self.connections.withLock { $0.open -= 1 } }
    }

    var openedConnections: Int { connections.withLock { $0.opened } }
    var openConnections: Int { connections.withLock { $0.open } }

    /// The heads of all requests so far.
    var requests: [String] { heads.withLock { $0 } }
    /// Their paths.
    var paths: [String] { requests.map { String($0.split(separator: " ")[1]) } }

    func address(_ path: String, scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// A complete response.
    static func response(_ body: String, status: String = "200 OK", _ fields: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n" + body
    }

    /// A complete response with a binary body.
    static func response(_ body: [UInt8], _ fields: [String]) -> Answer {
        let head = ["HTTP/1.1 200 OK", "Content-Length: \(body.count)"] + fields
        return .octets(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }
}

private final class AnsweringHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: (String) -> RawServer.Answer
    private var received = ""

    init(_ answer: @escaping (String) -> RawServer.Answer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard let end = received.firstRange(of: "\r\n\r\n") else { return }
        let head = String(received[..<end.lowerBound])
        received = String(received[end.upperBound...])
        switch answer(head) {
        case .bytes(let text): write(text, context)
        case .octets(let octets): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
        case .bytesAndClose(let text):
            write(text, context)
            context.close(promise: nil)
        case .forever(let text, let start):
            write(start, context)
            writeForever(text, context)
        case .silence: break
        }
    }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    private func writeForever(_ text: String, _ context: ChannelHandlerContext) {
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenSuccess {
            // In a new turn of the loop: writes may complete synchronously, and recursion would exhaust the stack.
            loop.execute { bound.value.0.writeForever(text, bound.value.1) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
