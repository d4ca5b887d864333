import HTTP
import IDToken
import NIOCore
import NIOEmbedded
@testable import SignIns
import Testing
@testable import Verification

@Suite struct RefusedClaimsTests {
    private let loop = EmbeddedEventLoop()
    private let memory = ClaimMemory(capacity: 10)
    private let now = VerificationTime(monotonic: MonotonicTime(milliseconds: 0), wall: UnixTime(seconds: 0))

    private func store(remembering capacity: Int = 10) throws -> ClaimStore {
        try ClaimStore(in: MemoryStore(memory), RefusedClaims(capacity: capacity), on: loop, providerCount: 1)
    }

    private func claim(_ number: UInt64) -> Claim {
        Claim(key: ClaimKey(high: number, low: number), end: ClaimEnd(after: 600), provider: "p")
    }

    private func outcome(_ number: UInt64, in store: ClaimStore) throws -> ClaimOutcome {
        switch store.attempt(claim(number)) {
        case .now(let made): made.outcome
        case .later(let begin): try begin().wait().outcome
        }
    }

    @Test func `what was refused takes no room, and stays claimed`() throws {
        let store = try store()
        #expect(try outcome(1, in: store) == .claimed)
        #expect(try store.release(claim(1), after: .refused).wait())
        for _ in 0..<2 {
            #expect(store.status.entries == 0)
            #expect(try outcome(1, in: store) == .alreadyClaimed)
        }
    }

    @Test func `what was not used can be claimed again`() throws {
        let store = try store()
        #expect(try outcome(1, in: store) == .claimed)
        #expect(try store.release(claim(1), after: .none).wait())
        #expect(try outcome(1, in: store) == .claimed)
    }

    @Test func `the latest refusals are remembered`() throws {
        let store = try store(remembering: 2)
        for number: UInt64 in [1, 2, 2, 3] {
            _ = try outcome(number, in: store)
            _ = store.release(claim(number), after: .refused)
        }
        let outcomes = try [2, 3, 1].map { try outcome($0, in: store) }
        #expect(outcomes == [.alreadyClaimed, .alreadyClaimed, .claimed])
    }

    @Test func `another event loop knows the refusal too, even if it claims at the same time`() throws {
        let refused = RefusedClaims(capacity: 10)
        let first = try ClaimStore(in: MemoryStore(memory), refused, on: loop, providerCount: 1)
        let second = try ClaimStore(
            in: ClaimsAfterRelease(first, claim(1)), refused, on: loop, providerCount: 1)
        #expect(try outcome(1, in: first) == .claimed)
        #expect(try outcome(1, in: second) == .alreadyClaimed)
        #expect(memory.status(now: now).entries == 0)
    }

    /// A store in which the other claim is released just before this one is made.
    private final class ClaimsAfterRelease: ReplayStore {
        private let first: ClaimStore
        private let released: Claim
        private let store: MemoryStore

        init(_ first: ClaimStore, _ released: Claim) {
            (self.first, self.released) = (first, released)
            store = MemoryStore(ClaimMemory(capacity: 10))
        }

        func claim(_ claim: Claim, sharedBy providers: Int, now: VerificationTime) -> ClaimReply {
            _ = first.release(released, after: .refused)
            return store.claim(claim, sharedBy: providers, now: now)
        }

        func release(_ claim: Claim, after use: ReleasedUse, on loop: any EventLoop) -> EventLoopFuture<Bool> {
            store.release(claim, after: use, on: loop)
        }

        func status(now: VerificationTime) -> StoreStatus { store.status(now: now) }
        func end() {}
    }
}
