@testable import HTTP
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// Batching within a turn of an event loop and between turns, in cases that sockets can't produce reliably.
@Suite struct ResponseBatcherTests {
    @Test func `what came in while answers were not taken is answered, though its end is seen first`() throws {
        let harness = Harness()
        defer { harness.close() }
        let channel = try harness.connect()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        try channel.writeInbound(ByteBuffer(string: get("/1") + get("/2")))
        #expect(try channel.answers() == 0)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        harness.loop.run()
        #expect(try channel.answers() == 2)
    }

    @Test func `the answers of a turn are written at its end`() throws {
        let harness = Harness()
        defer { harness.close() }
        let (one, other) = (try harness.connect(), try harness.connect())
        try one.writeInbound(ByteBuffer(string: get("/1") + get("/2")))
        try other.writeInbound(ByteBuffer(string: get("/3")))
        #expect(try one.answers() == 0)
        #expect(try other.answers() == 0)
        harness.loop.run()
        #expect(try one.answers() == 2)
        #expect(try other.answers() == 1)
        try one.writeInbound(ByteBuffer(string: get("/4")))
        harness.loop.run()
        #expect(try one.answers() == 1)
        #expect(try other.answers() == 0)
    }

    @Test func `no answer waits for two milliseconds, nor for more than thirty-one others`() throws {
        let harness = Harness()
        defer { harness.close() }
        let (one, other) = (try harness.connect(), try harness.connect())
        try one.writeInbound(ByteBuffer(string: get("/")))
        harness.clock.microseconds = 1999
        try other.writeInbound(ByteBuffer(string: get("/")))
        #expect(try one.answers() == 0)
        harness.clock.microseconds = 2000
        try other.writeInbound(ByteBuffer(string: get("/")))
        #expect(try one.answers() == 1)
        #expect(try other.answers() == 2)
        let many = try (0..<32).map { _ in try harness.connect() }
        for channel in many.dropLast() { try channel.writeInbound(ByteBuffer(string: get("/"))) }
        #expect(try many[0].answers() == 0)
        try many[31].writeInbound(ByteBuffer(string: get("/")))
        for channel in many { #expect(try channel.answers() == 1) }
    }

    @Test func `a long answer is written at once`() throws {
        let harness = Harness(body: [UInt8](repeating: 0x61, count: 4096))
        defer { harness.close() }
        let channel = try harness.connect()
        try channel.writeInbound(ByteBuffer(string: get("/")))
        #expect(try channel.answers() == 1)
    }

    @Test func `who is closed within the turn has had its answer`() throws {
        let harness = Harness()
        defer { harness.close() }
        let channel = try harness.connect()
        try channel.writeInbound(ByteBuffer(string: get("/")))
        channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        #expect(try channel.answers() == 1)
        harness.loop.run()
        #expect(!channel.isActive)
    }
}

/// An event loop with the state that its connections share.
private final class Harness {
    let loop = EmbeddedEventLoop()
    let clock: Clock
    private let table: ConnectionTable
    private let limits = ListenerLimits()
    private let responder: OKResponder
    private let answers: ResponseBatcher
    private var channels: [EmbeddedChannel] = []

    init(body: [UInt8] = []) {
        let clock = Clock()
        self.clock = clock
        answers = ResponseBatcher(on: loop) { clock.microseconds }
        table = ConnectionTable(on: loop, counts: ListenerCounts(limits: ListenerLimits()), unixSeconds: { 0 })
        responder = OKResponder(body: body)
    }

    func connect() throws -> EmbeddedChannel {
        let connection = HTTPConnection(
            responder: responder, table: table, batcher: answers, executor: LoopExecutor(loop),
            counts: ListenerCounts(limits: limits),
            limits: limits,
            isEncrypted: false
        )
        let channel = EmbeddedChannel(handler: connection, loop: loop)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
        channels.append(channel)
        return channel
    }

    func close() {
        for channel in channels { _ = try? channel.finish(acceptAlreadyClosed: true) }
    }

    final class Clock {
        var microseconds: Int64 = 0
    }
}

extension EmbeddedChannel {
    /// The number of responses written since the last call.
    fileprivate func answers() throws -> Int {
        var text = ""
        while let buffer = try readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text.split(separator: "HTTP/1.1 200 OK").count
    }
}

private final class OKResponder: HTTPResponder {
    let isStopping = false
    private let body: [UInt8]

    init(body: [UInt8]) { self.body = body }

    func route(_ head: RequestHead) -> HeadRouting { HeadRouting(bodyLimit: 1000) }
    func respond(to request: HTTPRequest) -> HTTPReply { .now(response(.ok)) }
    func respond(to request: FailedRequest) -> HTTPResponse { response(.badRequest) }

    private func response(_ status: HTTPResponseStatus) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain", body: body, requestID: "id")
    }
}

@available(*, unavailable) extension OKResponder: Sendable {}
