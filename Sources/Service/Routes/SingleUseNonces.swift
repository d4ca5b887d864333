internal import NIOCore
private import SignIns
internal import Verification

/// Single-use nonces. They are claimed as the last check, so a rejected token uses none up.
extension ServiceResponder {
    /// A batch item that had to wait, before its nonce is claimed.
    struct UnclaimedItem {
        let index: Int
        let verdict: Verdict<VerifyAnswer>
        /// `nil` if it has no single-use nonce.
        let nonce: SingleUseNonce?
    }

    /// The verdict on a token after its nonce has been claimed.
    struct ClaimedVerdict {
        let verdict: Verdict<VerifyAnswer>
        /// When the claim started and ended; `nil` if there was none.
        let claim: Range<Int64>?
    }

    /// The verdict after the nonce has been claimed.
    ///
    /// - Parameter nonce: `nil` if there is none to claim.
    func claimed(_ verdict: Verdict<VerifyAnswer>, _ nonce: SingleUseNonce?) -> EventLoopFuture<ClaimedVerdict>.Isolated
    {
        let loop = service.loop
        func decided(_ verdict: Verdict<VerifyAnswer>) -> EventLoopFuture<ClaimedVerdict>.Isolated {
            loop.makeSucceededFuture(ClaimedVerdict(verdict: verdict, claim: nil)).assumeIsolated()
        }
        guard let nonce else { return decided(verdict) }
        func refused(_ problem: Problem) -> Verdict<VerifyAnswer> { .refused(problem, provider: verdict.provider) }
        let claimed: CountedClaim
        do throws(Problem) {
            guard let store = service.store else { throw .storeUnavailable(isSpent: false) }
            let claim = try nonce.claim(store.digests)
            claimed = service.claim(claim, in: store)
        } catch {
            return decided(refused(error))
        }
        return claimed.result(on: loop).assumeIsolated().map { claim in
            ClaimedVerdict(verdict: nonce.problem(claim.outcome).map(refused) ?? verdict, claim: claim.time)
        }
    }

    /// The items of a batch once their nonces are claimed.
    struct ClaimedItems {
        /// By the items' indices.
        var verdicts: [Int: Verdict<VerifyAnswer>] = [:]
        /// From the start of the first claim to the end of the last; `nil`: there was none.
        var claims: Range<Int64>?

        fileprivate init(_ items: [(index: Int, claimed: ClaimedVerdict)]) {
            for (index, claimed) in items {
                verdicts[index] = claimed.verdict
                guard let claim = claimed.claim else { continue }
                let others = claims ?? claim
                claims = min(others.lowerBound, claim.lowerBound)..<max(others.upperBound, claim.upperBound)
            }
        }
    }

    /// Claims the nonces of a batch in the order of its items, so the first item with a nonce wins.
    func claimed(_ items: [UnclaimedItem]) -> EventLoopFuture<ClaimedItems>.Isolated {
        let claims = items.map { item in
            claimed(item.verdict, item.nonce).map { (index: item.index, claimed: $0) }.nonisolated()
        }
        return EventLoopFuture.whenAllSucceed(claims, on: service.loop).assumeIsolated().map { ClaimedItems($0) }
    }
}

extension CountedClaim {
    /// Makes the claim if it has not been made yet.
    func result(on loop: any EventLoop) -> EventLoopFuture<Result> {
        switch self {
        case .now(let result): loop.makeSucceededFuture(result)
        case .later(let begin): begin()
        }
    }
}
