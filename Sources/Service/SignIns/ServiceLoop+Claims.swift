private import Host
private import IDToken
internal import NIOCore
internal import ReplayStore
private import Verification

extension ServiceLoop {
    /// Makes a claim, and counts its outcome.
    func claim(_ claim: Claim, in store: LoopStore) -> CountedClaim {
        let now = VerificationTime.now()
        func counted(_ outcome: ClaimOutcome, since begunAt: Int64) -> CountedClaim.Result {
            let endedAt = max(SystemClocks.monotonicMicroseconds(), begunAt)
            metrics.signIns.countClaim(outcome, microseconds: endedAt - begunAt)
            return CountedClaim.Result(outcome: outcome, time: begunAt..<endedAt)
        }
        let begunAt = SystemClocks.monotonicMicroseconds()
        let time = StoreTime(monotonic: now.monotonic, unixSeconds: now.wall.seconds)
        switch store.claims.claim(claim, sharedBy: providerCount, now: time) {
        case .now(let outcome): return .now(counted(outcome, since: begunAt))
        case .later(let begin):
            return .later {
                let begunAt = SystemClocks.monotonicMicroseconds()
                return begin().assumeIsolated().map { counted($0, since: begunAt) }.nonisolated()
            }
        }
    }
}

extension ServiceLoop {
    /// Releases a claim, and counts whether that was confirmed.
    ///
    /// - Returns: whether the claim is known to be released.
    func release(_ claim: Claim, after use: ReleasedUse, in store: LoopStore) -> EventLoopFuture<Bool> {
        store.claims.release(claim, after: use, on: loop).assumeIsolated().map { isReleased in
            self.metrics.signIns.countRelease(isReleased)
            return isReleased
        }.nonisolated()
    }
}

/// The outcome of a counted claim, or a closure that makes it.
enum CountedClaim {
    case now(Result)
    /// Makes the claim, as in ``ClaimReply/later(_:)``.
    case later(() -> EventLoopFuture<Result>)

    struct Result {
        let outcome: ClaimOutcome
        /// In microseconds of the monotonic clock.
        let time: Range<Int64>
    }
}
