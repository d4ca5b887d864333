import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPListener

/// What happens between two turns of an event loop, where no socket can be made to have it happen.
@Suite struct TurnTests {
    @Test func `what came in while answers were not taken is answered, though its end is seen first`() throws {
        let loop = EmbeddedEventLoop()
        let table = ConnectionTable(on: loop, unixSeconds: { 0 })
        let limits = ListenerLimits()
        let connection = HTTPConnection(
            responder: OKResponder(), table: table, answers: TurnAnswers(on: loop),
            counts: ListenerCounts(limits: limits), limits: limits)
        let channel = EmbeddedChannel(handler: connection, loop: loop)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        try channel.writeInbound(ByteBuffer(string: get("/1") + get("/2")))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        loop.run()
        var answers = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { answers += String(buffer: buffer) }
        #expect(answers.split(separator: "HTTP/1.1 200 OK").count == 2, "\(answers)")
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}

private final class OKResponder: HTTPResponder {
    let isStopping = false

    func bodyLimit(for head: RequestHead) -> Int { 1000 }
    func respond(to request: HTTPRequest) -> HTTPReply { .now(response(.ok)) }
    func respond(to fault: HTTPFault, head: RequestHead?) -> HTTPResponse { response(.badRequest) }

    private func response(_ status: HTTPResponseStatus) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain", body: [], requestID: "id")
    }
}

@available(*, unavailable) extension OKResponder: Sendable {}
