// The cheapest HTTP/1.1 server that can be built from NIO's own parts: it returns each request's body.
//
// usage: echo PORT
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

final class Echo: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var body: ByteBuffer?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            body = nil
        case .body(var part):
            // A body that arrives in one piece, as nearly all do, is not copied.
            if body == nil { body = part } else { body?.writeBuffer(&part) }
        case .end:
            answer(context, body ?? ByteBuffer())
            body = nil
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext, _ body: ByteBuffer) {
        var headers = HTTPHeaders()
        headers.add(name: "Content-Type", value: "application/json")
        headers.add(name: "Content-Length", value: String(body.readableBytes))
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

guard CommandLine.arguments.count == 2, let port = Int(CommandLine.arguments[1]) else {
    print("usage: echo PORT")
    exit(2)
}
let server = ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 2))
    .serverChannelOption(.backlog, value: 4096)
    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false)
            try channel.pipeline.syncOperations.addHandler(Echo())
        }
    }
try await server.bind(host: "127.0.0.1", port: port).get().closeFuture.get()
