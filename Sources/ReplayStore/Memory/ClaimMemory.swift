internal import Host
package import NIOCore
private import Synchronization

/// The claims of one process, shared by its event loops.
///
/// Divided into shards, each with its own lock. If the memory is full, new claims are rejected: no claim is evicted
/// before it expires.
package final class ClaimMemory: Sendable {
    private let shards: [Shard]
    private let capacity: Int
    private let count = Atomic<Int>(0)
    private static let shardCount = 16

    /// - Parameter capacity: the maximum number of claims.
    package init(capacity: Int) {
        self.capacity = capacity
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    /// The state after removing expired claims.
    func status(now: StoreTime) -> StoreStatus {
        forget(now: now)
        let entries = count.load(ordering: .relaxed)
        return StoreStatus(health: entries >= capacity ? .full : .ok, entries: entries)
    }

    func claim(_ key: ClaimKey, until end: ClaimEnd, now: StoreTime) -> ClaimOutcome {
        // The key is a hash, so any of its bits will do.
        let shard = shards[Int(truncatingIfNeeded: key.low) & (Self.shardCount - 1)]
        let outcome = shard.claims.withLock { $0.claim(key, until: end, now: now, counting: reserve, release) }
        guard outcome == .unavailable(mayBeClaimed: false) else { return outcome }
        // Other shards may hold expired claims, because each removes its own only when it is used.
        forget(now: now)
        return shard.claims.withLock { $0.claim(key, until: end, now: now, counting: reserve, release) }
    }

    /// Removes a claim.
    func remove(_ key: ClaimKey) {
        let shard = shards[Int(truncatingIfNeeded: key.low) & (Self.shardCount - 1)]
        shard.claims.withLock { release($0.remove(key)) }
    }

    private func forget(now: StoreTime) {
        for shard in shards { shard.claims.withLock { release($0.forget(now: now)) } }
    }

    private func reserve() -> Bool {
        guard count.add(1, ordering: .relaxed).newValue > capacity else { return true }
        release(1)
        return false
    }

    private func release(_ entries: Int) {
        if entries > 0 { count.subtract(entries, ordering: .relaxed) }
    }

    private final class Shard: Sendable {
        let claims = Mutex(Claims())
    }
}

/// The claims of one shard, and when each may be forgotten.
private struct Claims {
    private var keys: Set<ClaimKey> = []
    /// Claims grouped by the minute of the monotonic clock after which they are forgotten.
    private var minutes: [Int64: Minute] = [:]
    private var nextMinute: Int64?

    private struct Minute {
        var keys: [ClaimKey] = []
        /// The end on the wall clock is checked as well: if that clock is set back, expired items become valid again.
        var endUnixSeconds = Int64.min
    }

    mutating func claim(
        _ key: ClaimKey, until end: ClaimEnd, now: StoreTime, counting reserve: () -> Bool, _ release: (Int) -> Void
    ) -> ClaimOutcome {
        release(forget(now: now))
        if keys.contains(key) { return .alreadyClaimed }
        guard reserve() else { return .unavailable(mayBeClaimed: false) }
        keys.insert(key)
        let endMilliseconds = now.monotonic.milliseconds + end.milliseconds(from: now)
        // Rounded up to the next minute, so that no claim is forgotten early.
        let minute = endMilliseconds / 60_000 + 1
        minutes[minute, default: Minute()].keys.append(key)
        let latest = minutes[minute]?.endUnixSeconds ?? .min
        minutes[minute]?.endUnixSeconds = max(latest, end.unixSeconds)
        nextMinute = min(nextMinute ?? minute, minute)
        return .claimed
    }

    /// - Returns: how many claims were removed.
    mutating func remove(_ key: ClaimKey) -> Int {
        guard keys.remove(key) != nil else { return 0 }
        for minute in minutes.keys {
            guard let index = minutes[minute]?.keys.firstIndex(of: key) else { continue }
            minutes[minute]?.keys.remove(at: index)
            break
        }
        return 1
    }

    /// - Returns: how many claims were forgotten.
    mutating func forget(now: StoreTime) -> Int {
        let minute = now.monotonic.milliseconds / 60_000
        guard let first = nextMinute, first <= minute else { return 0 }
        var forgotten = 0
        for (each, claims) in minutes where each <= minute && claims.endUnixSeconds <= now.unixSeconds {
            for key in claims.keys { keys.remove(key) }
            forgotten += claims.keys.count
            minutes[each] = nil
        }
        nextMinute = minutes.keys.min().map { max($0, minute + 1) }
        return forgotten
    }
}

/// A store in the memory of this process.
package final class MemoryStore: ReplayStore {
    private let memory: ClaimMemory

    package init(_ memory: ClaimMemory) { self.memory = memory }

    package func claim(_ key: ClaimKey, until end: ClaimEnd, now: StoreTime) -> ClaimReply {
        .now(memory.claim(key, until: end, now: now))
    }

    package func release(_ key: ClaimKey, on loop: any EventLoop) -> EventLoopFuture<Bool> {
        memory.remove(key)
        return loop.makeSucceededFuture(true)
    }

    package func status(now: StoreTime) -> StoreStatus { memory.status(now: now) }
    package func end() {}
}

@available(*, unavailable) extension MemoryStore: Sendable {}
