internal import HTTP
private import IDToken
package import NIOCore
private import Synchronization
package import Verification

/// The claims of one process, shared by its event loops.
///
/// Divided into shards, each with its own lock. If the memory is full, new claims are rejected: no claim is evicted
/// before it expires. ``ClaimQuota`` keeps one provider's claims from taking all of it.
package final class ClaimMemory: Sendable {
    private let shards: [Shard]
    private let quota: Mutex<ClaimQuota>
    private static let shardCount = 16

    /// - Parameter capacity: the maximum number of claims.
    package init(capacity: Int) {
        quota = Mutex(ClaimQuota(capacity: capacity))
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    /// The state after removing expired claims.
    func status(now: VerificationTime) -> StoreStatus {
        forget(now: now)
        return quota.withLock { quota in
            StoreStatus(health: quota.isFull ? .full : .ok, entries: quota.total, fill: quota.fill)
        }
    }

    /// - Parameter providers: how many providers share the memory.
    func claim(_ claim: Claim, sharedBy providers: Int, now: VerificationTime) -> ClaimOutcome {
        let shard = shard(of: claim)
        func attempt() -> ClaimOutcome {
            shard.claims.withLock { claims in
                claims.claim(claim, now: now, release) {
                    quota.withLock { $0.reserve(claim.provider, sharedBy: providers) }
                }
            }
        }
        let outcome = attempt()
        guard outcome == .unavailable(mayBeClaimed: false) else { return outcome }
        // Other shards may hold expired claims, because each removes its own only when it is used.
        forget(now: now)
        return attempt()
    }

    /// Removes a claim.
    func remove(_ claim: Claim) {
        shard(of: claim).claims.withLock { if $0.remove(claim) { release(claim.provider, 1) } }
    }

    private func shard(of claim: Claim) -> Shard {
        // The key is a hash, so any of its bits will do.
        shards[Int(truncatingIfNeeded: claim.key.low) & (Self.shardCount - 1)]
    }

    private func forget(now: VerificationTime) {
        for shard in shards { shard.claims.withLock { $0.forget(now: now, release) } }
    }

    private func release(_ provider: String, _ claims: Int) {
        quota.withLock { $0.release(provider, claims) }
    }

    private final class Shard: Sendable {
        let claims = Mutex(Claims())
    }
}

/// The claims of one shard, and when each may be forgotten.
private struct Claims {
    private var keys: Set<ClaimKey> = []
    /// Claims that are forgotten together.
    private var groups: [GroupName: Group] = [:]
    private var nextMinute: Int64?

    private struct GroupName: Hashable {
        /// The minute of the monotonic clock after which they are forgotten.
        let minute: Int64
        let provider: String
    }

    private struct Group {
        var keys: [ClaimKey] = []
        /// The end on the wall clock is checked as well: if that clock is set back, expired items become valid again.
        var endUnixSeconds = Int64.min
    }

    /// - Parameters:
    ///   - release: called with the number of a provider's claims that were forgotten.
    ///   - reserve: whether there is room for one more claim.
    mutating func claim(
        _ claim: Claim, now: VerificationTime, _ release: (String, Int) -> Void, reserving reserve: () -> Bool
    ) -> ClaimOutcome {
        forget(now: now, release)
        if keys.contains(claim.key) { return .alreadyClaimed }
        guard reserve() else { return .unavailable(mayBeClaimed: false) }
        keys.insert(claim.key)
        let endMilliseconds = now.monotonic.milliseconds + claim.end.milliseconds(from: now)
        // Rounded up to the next minute, so that no claim is forgotten early.
        let name = GroupName(minute: endMilliseconds / 60_000 + 1, provider: claim.provider)
        groups[name, default: Group()].keys.append(claim.key)
        let latest = groups[name]?.endUnixSeconds ?? .min
        groups[name]?.endUnixSeconds = max(latest, claim.end.unixSeconds)
        nextMinute = min(nextMinute ?? name.minute, name.minute)
        return .claimed
    }

    /// - Returns: whether there was such a claim.
    mutating func remove(_ claim: Claim) -> Bool {
        guard keys.remove(claim.key) != nil else { return false }
        for name in groups.keys where name.provider == claim.provider {
            // A claim is released soon after it was made, so it is near the end.
            guard let index = groups[name]?.keys.lastIndex(of: claim.key) else { continue }
            groups[name]?.keys.remove(at: index)
            break
        }
        return true
    }

    /// - Parameter release: called with the number of a provider's claims that were forgotten.
    mutating func forget(now: VerificationTime, _ release: (String, Int) -> Void) {
        let minute = now.monotonic.milliseconds / 60_000
        guard let first = nextMinute, first <= minute else { return }
        for (name, claims) in groups where name.minute <= minute && claims.endUnixSeconds <= now.wall.seconds {
            for key in claims.keys { keys.remove(key) }
            release(name.provider, claims.keys.count)
            groups[name] = nil
        }
        nextMinute = groups.keys.map(\.minute).min().map { max($0, minute + 1) }
    }
}

/// A store in the memory of this process.
package final class MemoryStore: ReplayStore {
    private let memory: ClaimMemory

    package init(_ memory: ClaimMemory) { self.memory = memory }

    package func claim(_ claim: Claim, sharedBy providers: Int, now: VerificationTime) -> ClaimReply {
        .now(memory.claim(claim, sharedBy: providers, now: now))
    }

    package func release(
        _ claim: Claim, after _: ReleasedUse, on loop: any EventLoop
    ) -> EventLoopFuture<Bool> {
        memory.remove(claim)
        return loop.makeSucceededFuture(true)
    }

    package func status(now: VerificationTime) -> StoreStatus { memory.status(now: now) }
    package func end() {}
}

/// Divides the room of a ``ClaimMemory`` among providers, so that a flood at one can't lock out the others.
///
/// A tenth of the room is reserved, in equal parts, one for each provider. What one provider has not used of its part is
/// kept from the others. All the rest goes to whoever asks first. With one provider, nothing is reserved.
struct ClaimQuota {
    let capacity: Int
    private(set) var total = 0
    private var claims: [String: Int] = [:]
    /// How many providers there were at the last claim.
    private var providers = 1

    init(capacity: Int) { self.capacity = capacity }

    /// The share of the room that is in use.
    var fill: Double { Double(total) / Double(capacity) }

    /// Whether there is a provider whose next claim would find no room.
    var isFull: Bool { total >= capacity || claims.keys.contains { !hasRoom(for: $0) } }

    /// Counts one more claim.
    ///
    /// - Parameter providers: how many there are, with and without claims.
    /// - Returns: whether there was room for it.
    mutating func reserve(_ provider: String, sharedBy providers: Int) -> Bool {
        self.providers = providers
        guard hasRoom(for: provider) else { return false }
        total += 1
        claims[provider, default: 0] += 1
        return true
    }

    mutating func release(_ provider: String, _ count: Int) {
        total -= count
        let left = claims[provider, default: 0] - count
        claims[provider] = left > 0 ? left : nil
    }

    private func hasRoom(for provider: String) -> Bool {
        let part = capacity / 10 / max(providers, 1)
        let used = claims.reduce(0) { $1.key == provider ? $0 : $0 + min($1.value, part) }
        // Providers that were removed from the settings may still have claims, so this could be less than zero.
        let keptForOthers = max(part * (providers - 1) - used, 0)
        return capacity - total > keptForOthers
    }
}
