internal import NIOCore
private import SignIns
internal import Verification

/// Single-use nonces. They are claimed as the last check, so a rejected token uses none up.
extension ServiceResponder {
    /// A batch item that had to wait, before its nonce is claimed.
    struct UnclaimedItem {
        let index: Int
        let verdict: Verdict
        /// `nil` if it has no single-use nonce.
        let nonce: SingleUseNonce?
    }

    /// The verdict on a token after its nonce has been claimed.
    struct ClaimedVerdict {
        let verdict: Verdict
        /// When the claim started and ended; `nil` if there was none.
        let claim: Range<Int64>?
    }

    /// The verdict after the nonce has been claimed.
    ///
    /// - Parameter nonce: `nil` if there is none to claim.
    func claimed(_ verdict: Verdict, _ nonce: SingleUseNonce?) -> EventLoopFuture<ClaimedVerdict>.Isolated {
        let loop = service.loop
        func decided(_ verdict: Verdict) -> EventLoopFuture<ClaimedVerdict>.Isolated {
            loop.makeSucceededFuture(ClaimedVerdict(verdict: verdict, claim: nil)).assumeIsolated()
        }
        guard let nonce else { return decided(verdict) }
        func refused(_ problem: Problem) -> Verdict { .refused(problem, provider: verdict.provider) }
        let claimed: CountedClaim
        do throws(Problem) {
            guard let store = service.store else { throw .storeUnavailable(isSpent: false) }
            let claim = try nonce.claim(store.digests)
            claimed = service.claim(claim.key, until: claim.end, in: store)
        } catch {
            return decided(refused(error))
        }
        return claimed.future(on: loop).assumeIsolated().map { claim in
            ClaimedVerdict(verdict: nonce.problem(claim.outcome).map(refused) ?? verdict, claim: claim.time)
        }
    }

    /// The verdicts of a batch's items by index. Claims are made in the order of the items, so the first item with a
    /// nonce wins.
    func claimed(_ items: [UnclaimedItem]) -> EventLoopFuture<[Int: Verdict]>.Isolated {
        let verdicts = items.map { item in
            claimed(item.verdict, item.nonce).map { (item.index, $0.verdict) }.nonisolated()
        }
        return EventLoopFuture.whenAllSucceed(verdicts, on: service.loop).assumeIsolated().map { verdicts in
            Dictionary(verdicts, uniquingKeysWith: { first, _ in first })
        }
    }
}

extension CountedClaim {
    /// Makes the claim if it has not been made yet.
    fileprivate func future(on loop: any EventLoop) -> EventLoopFuture<Result> {
        switch self {
        case .now(let result): loop.makeSucceededFuture(result)
        case .later(let begin): begin()
        }
    }
}
