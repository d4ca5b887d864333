package import NIOCore
private import Synchronization

/// The claims of one process whose items were refused, shared by its event loops.
///
/// Only the latest are remembered. Nothing depends on them but that a refused item is not tried again: what was never
/// refused, and may still be used, is the store's to remember.
package final class RefusedClaims: Sendable {
    private let latest: Mutex<Latest>

    private struct Latest {
        let capacity: Int
        var keys: Set<ClaimKey> = []
        /// In the order of their arrival, from ``oldest`` on, and around.
        var order: [ClaimKey] = []
        var oldest = 0
    }

    /// - Parameter capacity: how many are remembered.
    package init(capacity: Int) { latest = Mutex(Latest(capacity: capacity)) }

    func insert(_ key: ClaimKey) {
        latest.withLock { latest in
            guard latest.keys.insert(key).inserted else { return }
            if latest.order.count < latest.capacity {
                latest.order.append(key)
            } else {
                latest.keys.remove(latest.order[latest.oldest])
                latest.order[latest.oldest] = key
                latest.oldest = (latest.oldest + 1) % latest.capacity
            }
        }
    }

    func contains(_ key: ClaimKey) -> Bool { latest.withLock { $0.keys.contains(key) } }
}

/// A store that also refuses what this process has seen refused, after the store itself has forgotten it.
package final class RefusalStore: ReplayStore {
    private let store: any ReplayStore
    private let refused: RefusedClaims
    private let loop: any EventLoop

    package init(_ store: any ReplayStore, _ refused: RefusedClaims, on loop: any EventLoop) {
        self.store = store
        self.refused = refused
        self.loop = loop
    }

    package func claim(_ claim: Claim, sharedBy providers: Int, now: StoreTime) -> ClaimReply {
        switch store.claim(claim, sharedBy: providers, now: now) {
        case .now(let outcome): .now(checked(outcome, of: claim))
        case .later(let begin):
            .later { begin().assumeIsolated().map { self.checked($0, of: claim) }.nonisolated() }
        }
    }

    /// The item may have been refused between the request and its claim. So this comes after the claim: what was
    /// refused was noted before its claim was released.
    private func checked(_ outcome: ClaimOutcome, of claim: Claim) -> ClaimOutcome {
        guard outcome == .claimed, refused.contains(claim.key) else { return outcome }
        _ = store.release(claim, after: .refused, on: loop)
        return .alreadyClaimed
    }

    package func release(
        _ claim: Claim, after use: ReleasedUse, on loop: any EventLoop
    ) -> EventLoopFuture<Bool> {
        if use == .refused { refused.insert(claim.key) }
        return store.release(claim, after: use, on: loop)
    }

    package func status(now: StoreTime) -> StoreStatus { store.status(now: now) }
    package func end() { store.end() }
}

@available(*, unavailable) extension RefusalStore: Sendable {}
