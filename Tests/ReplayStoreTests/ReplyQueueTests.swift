import NIOCore
import NIOEmbedded
import Testing

@testable import ReplayStore

@Suite struct ReplyQueueTests {
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
