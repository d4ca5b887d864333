private import HTTP
private import IDToken
internal import NIOCore
internal import OpenSSL
internal import Replay
internal import SignIns
private import Verification

/// One event loop's access to the store for single-use claims. Confined to that loop.
final class LoopStore {
    let claims: any ReplayStore
    /// For computing the keys of claims.
    let digests: DigestContext

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ setup: StoreSetup, on loop: any EventLoop) throws(OpenSSLError) {
        digests = try DigestContext()
        let store: any ReplayStore =
            switch setup.kind {
            case .memory(let memory): MemoryStore(memory)
            case .valkey(let settings, let monitor): ValkeyStore(settings, on: loop, monitor)
            }
        claims = RefusalStore(store, setup.refused, on: loop)
    }

    /// Closes the store's connections.
    func end() { claims.end() }

    var status: StoreStatus {
        claims.status(now: StoreTime(monotonic: SystemClocks.monotonic(), unixSeconds: SystemClocks.unixSeconds()))
    }
}

@available(*, unavailable) extension LoopStore: Sendable {}

/// The shared state for sign-ins on one event loop. Confined to that loop.
final class LoopSignIns {
    private(set) var sealer: SignInSealer
    let store: LoopStore

    /// - Throws: ``OpenSSLError`` when out of memory.
    init(_ keys: HandleKeys, _ store: LoopStore) throws(OpenSSLError) {
        sealer = try SignInSealer(keys)
        self.store = store
    }

    /// Uses new keys from the next request on.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory; the current keys then stay in use.
    func change(to keys: HandleKeys) throws(OpenSSLError) { sealer = try SignInSealer(keys) }
}

@available(*, unavailable) extension LoopSignIns: Sendable {}

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
