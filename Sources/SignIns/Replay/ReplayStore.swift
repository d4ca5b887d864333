private import Bytes
private import IDToken
package import NIOCore
package import OpenSSL
private import Synchronization
package import Verification

/// Records what has been used, so that nothing is used twice.
///
/// Confined to one event loop. Each loop has its own store; they share their memory, or the server behind them.
package protocol ReplayStore: AnyObject {
    /// Makes a claim for the first caller.
    ///
    /// - Parameter providers: how many providers use the store.
    func claim(_ claim: Claim, sharedBy providers: Int, now: VerificationTime) -> ClaimReply

    /// Releases a claim that this caller made. Never retried: a second attempt could release a claim that
    /// another caller has made in between.
    ///
    /// - Parameter use: what became of the claimed item.
    /// - Returns: whether the claim is known to be released. Never fails.
    func release(_ claim: Claim, after use: ReleasedUse, on loop: any EventLoop) -> EventLoopFuture<Bool>

    func status(now: VerificationTime) -> StoreStatus

    /// Closes its connections. Claims in progress become unavailable.
    func end()
}

/// Why a claim is released before its end.
package enum ReleasedUse: Sendable {
    /// The item was not used, so the next caller may claim it.
    case none
    /// The item was refused: nothing was issued for it, and nothing will be. Room for it is not worth keeping, but it
    /// should not be tried again.
    case refused
}

/// The outcome of a claim, or how to get it.
package enum ClaimReply {
    case now(ClaimOutcome)
    /// Makes the claim; to be called at most once. Nothing is claimed before, so that a request that is shed uses
    /// nothing up.
    case later(() -> EventLoopFuture<ClaimOutcome>)
}

/// The result of a claim.
package enum ClaimOutcome: Equatable, Sendable {
    /// Nobody had claimed it before.
    case claimed
    case alreadyClaimed
    /// The store is full, unreachable, refused, or did not answer in time.
    ///
    /// - Parameter mayBeClaimed: whether the claim may have been made anyway, so that a retry could return
    ///   ``alreadyClaimed``.
    case unavailable(mayBeClaimed: Bool)
}

/// When a claim may be forgotten, in Unix seconds. From then on, the claimed item is rejected as expired.
package struct ClaimEnd: Equatable, Sendable {
    package let unixSeconds: Int64

    /// In seconds. The clocks of instances differ, and a claim must outlive the claimed item on all of them.
    package static let clockTolerance: Int64 = 300

    /// - Parameter expiry: when the claimed item expires, in Unix seconds.
    package init(after expiry: Int64) {
        let (sum, overflow) = expiry.addingReportingOverflow(Self.clockTolerance)
        unixSeconds = overflow ? .max : sum
    }

    /// The remaining time in milliseconds, at least the tolerance.
    func milliseconds(from now: VerificationTime) -> Int64 {
        let (difference, overflow) = unixSeconds.subtractingReportingOverflow(now.wall.seconds)
        let seconds = min(max(overflow ? .max : difference, Self.clockTolerance), Self.longest)
        return seconds * 1000
    }

    /// In seconds. No sign-in and no token is accepted for longer.
    private static let longest: Int64 = 366 * 86400
}

/// The state of a store, as one event loop sees it.
package struct StoreStatus: Sendable, Equatable {
    package let health: StoreHealth
    /// The number of claims in this process's memory; `nil` if they are stored elsewhere.
    package let entries: Int?
    /// The share of its room that is in use, from 0 to 1; `nil` if it has no limit, or if that can't be read.
    package let fill: Double?
}

/// Whether claims can be made now.
package enum StoreHealth: String, Sendable, CaseIterable, Comparable {
    // From good to bad.
    case ok
    /// It holds its maximum number of claims.
    case full
    /// It could drop claims under memory pressure.
    case evicting
    /// It is a replica, which takes no writes.
    case readOnly = "read_only"
    /// It can't be reached, or does not answer.
    case unreachable

    package static func < (left: StoreHealth, right: StoreHealth) -> Bool {
        allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
    }
}

/// Identifies something single-use by 16 octets of its hash, so that the store's contents reveal nothing.
package struct ClaimKey: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    /// The key in the store, after the prefix: 32 hexadecimal digits, which are easy to copy.
    var digits: String { String(hexadecimal: high, low) }
}

extension ClaimKey {
    /// - Parameters:
    ///   - kind: separates keys of different kinds.
    ///   - parts: what identifies the single-use item. Each part is hashed with its length, so different lists can't
    ///     collide.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ kind: StaticString, of parts: [[UInt8]], _ context: borrowing DigestContext) throws(OpenSSLError) {
        var message = Array("assay ".utf8)
        message.reserveCapacity(parts.reduce(64) { $0 + $1.count + 8 })
        kind.withUTF8Buffer { unsafe message.append(contentsOf: $0) }
        for part in parts {
            for index in 0..<8 { message.append(UInt8(truncatingIfNeeded: part.count >> (index * 8))) }
            message += part
        }
        let digest = try context.digest(message.span, with: .sha256)
        high = digest[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What a request claims.
package struct Claim: Sendable {
    package let key: ClaimKey
    /// How long the key stays claimed.
    package let end: ClaimEnd
    /// The ID of the provider, for whom a store in memory counts it.
    package let provider: String
}

/// The claims of one process whose items were refused, shared by its event loops.
///
/// Only the latest are remembered. Nothing depends on them but that a refused item is not tried again: what was never
/// refused, and may still be used, is the store's to remember.
package final class RefusedClaims: Sendable {
    private let latest: Mutex<Latest>

    private struct Latest {
        let capacity: Int
        var keys: Set<ClaimKey> = []
        /// In the order of their arrival.
        var order = CircularBuffer<ClaimKey>()
    }

    /// - Parameter capacity: how many are remembered.
    package init(capacity: Int) { latest = Mutex(Latest(capacity: capacity)) }

    func insert(_ key: ClaimKey) {
        latest.withLock { latest in
            guard latest.keys.insert(key).inserted else { return }
            if latest.order.count == latest.capacity { latest.keys.remove(latest.order.removeFirst()) }
            latest.order.append(key)
        }
    }

    func contains(_ key: ClaimKey) -> Bool { latest.withLock { $0.keys.contains(key) } }
}
