import HTTP
import NIOCore
import NIOPosix
import Testing
@testable import Verification

@Suite struct DecryptionQueueTests {
    /// The decryptions that ran, in their order, and how many were refused, if these ask in one turn of a loop.
    private func outcome(of requests: [(name: String, isPaidFor: Bool)]) async throws -> (ran: [String], refused: Int) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await loop.flatSubmit { () -> EventLoopFuture<(ran: [String], refused: Int)> in
            let queue = DecryptionQueue(on: loop)
            let ran = NIOLoopBoundBox([String](), eventLoop: loop)
            let futures = requests.map { request in
                LoopExecutor(loop).future { () -> Bool in
                    do throws(Problem) {
                        try await queue.run(isPaidFor: request.isPaidFor) { () throws(Problem) in
                            ran.value.append(request.name)
                        }
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return EventLoopFuture.whenAllSucceed(futures, on: loop).map { results in
                (ran.value, results.count { !$0 })
            }
        }.get()
    }

    @Test func `64 wait, no more, and those that were paid for go first`() async throws {
        let junk: [(name: String, isPaidFor: Bool)] = (0..<70).map { ("junk \($0)", false) }
        let (ran, refused) = try await outcome(of: junk + [("paid for 1", true), ("paid for 2", true)])
        #expect(refused == 5)
        #expect(ran == ["junk 0", "paid for 1", "paid for 2"] + (1..<65).map { "junk \($0)" })
    }

    @Test func `a queue that has been emptied runs the next at once`() async throws {
        for _ in 0..<2 {
            let (ran, refused) = try await outcome(of: [("one", false)])
            #expect(ran == ["one"] && refused == 0)
        }
    }
}
