import NIOCore
import NIOEmbedded
@testable import SignIns
import Testing

@Suite struct ReplyQueueTests {
    /// Each would be matched to a command that was sent later, and could say that a claim succeeded.
    @Test(arguments: ["+OK\r\n", "+O", "\r\n"])
    func `a reply, or the beginning of one, without a command ends the connection`(octets: String) throws {
        let channel = EmbeddedChannel()
        var reasons: [StoreFailure] = []
        let replies = ReplyQueue { reasons.append($0) }
        try channel.pipeline.syncOperations.addHandler(replies)
        var results: [String] = []
        replies.send(.ping) { results.append("\($0)") }
        channel.embeddedEventLoop.run()
        try channel.writeInbound(ByteBuffer(string: "+PONG\r\n" + octets))
        #expect(reasons.count == 1)
        replies.send(.ping) { if case .broken = $0 { results.append("broken") } }
        #expect(results.count == 2 && results.last == "broken")
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a reply that arrives before its command was sent ends the connection`() throws {
        let channel = EmbeddedChannel()
        var reasons: [StoreFailure] = []
        let replies = ReplyQueue { reasons.append($0) }
        try channel.pipeline.syncOperations.addHandler(replies)
        var isBroken = false
        replies.send(.ping) { if case .broken = $0 { isBroken = true } }
        try channel.writeInbound(ByteBuffer(string: "+OK\r\n"))
        #expect(isBroken)
        #expect(reasons.count == 1)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `replies may arrive in parts while their commands are pending`() throws {
        let channel = EmbeddedChannel()
        let replies = ReplyQueue { _ in }
        try channel.pipeline.syncOperations.addHandler(replies)
        var received: [RESPReply] = []
        for _ in 0..<2 { replies.send(.ping) { if case .reply(let reply) = $0 { received.append(reply) } } }
        channel.embeddedEventLoop.run()
        for part in ["+PO", "NG\r\n+P", "ONG\r\n"] { try channel.writeInbound(ByteBuffer(string: part)) }
        #expect(received == [.simple(Array("PONG".utf8)), .simple(Array("PONG".utf8))])
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a command after the end of a connection is answered at once`() throws {
        let channel = EmbeddedChannel()
        let replies = ReplyQueue { _ in }
        try channel.pipeline.syncOperations.addHandler(replies)
        replies.end(.closed)
        var isBroken = false
        replies.send(.ping) { if case .broken = $0 { isBroken = true } }
        #expect(isBroken)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
