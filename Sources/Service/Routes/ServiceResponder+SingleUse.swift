internal import NIOCore
private import SignIns
internal import Verification

/// Nonces that are used once: claimed as the last check, so that a token that is refused uses none up.
extension ServiceResponder {
    /// An item of a batch that had to wait, before its nonce is claimed.
    struct UnclaimedItem {
        let index: Int
        let verdict: Verdict
        /// `nil`: it has none that is used once.
        let nonce: SingleUseNonce?
    }

    /// What became of a token once its nonce was claimed.
    struct ClaimedVerdict {
        let verdict: Verdict
        /// When the claim was made and answered; `nil`: there was none.
        let claim: Range<Int64>?
    }

    /// The verdict once the nonce is claimed.
    ///
    /// - Parameter nonce: `nil`: there is none to claim.
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

    /// The verdicts of a batch's items by their places. Claims are made in the order of the items, so that the first one with a
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
    /// Makes the claim, where it is not made yet.
    fileprivate func future(on loop: any EventLoop) -> EventLoopFuture<Result> {
        switch self {
        case .now(let result): loop.makeSucceededFuture(result)
        case .later(let begin): begin()
        }
    }
}
