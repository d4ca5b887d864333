package import Host
package import NIOCore

/// Remembers what has been used, so that nothing is used twice.
///
/// Confined to one event loop: each has a store of its own, which shares its memory, or the server behind it, with the others'.
package protocol ReplayStore: AnyObject {
    /// Claims a key for whoever asks first.
    ///
    /// - Parameters:
    ///   - life: for how long the key stays claimed.
    ///   - now: the time by both clocks.
    func claim(_ key: ClaimKey, until end: ClaimEnd, now: StoreTime) -> ClaimReply

    /// How the store is now.
    func status(now: StoreTime) -> StoreStatus

    /// Ends its connections. Claims under way are unavailable.
    func end()
}

/// The outcome of a claim, or how to get it.
package enum ClaimReply {
    case now(ClaimOutcome)
    /// Makes the claim; to be called at most once. Until then nothing is claimed, so that a request which is refused for want of
    /// room uses nothing up.
    case later(() -> EventLoopFuture<ClaimOutcome>)
}

/// What came of a claim.
package enum ClaimOutcome: Equatable, Sendable {
    /// Nobody had claimed it before.
    case claimed
    case alreadyClaimed
    /// The store is full, was not reached, or did not answer in time.
    ///
    /// - Parameter mayBeClaimed: whether the claim may have been made all the same, so that asking again could be told
    ///   ``alreadyClaimed``.
    case unavailable(mayBeClaimed: Bool)
}

/// When a claim may be forgotten, in Unix seconds: what was claimed is refused for its age from then on.
package struct ClaimEnd: Equatable, Sendable {
    package let unixSeconds: Int64

    /// Replicas' clocks differ, and a claim must outlive what it is about by all of them.
    package static let clockTolerance: Int64 = 300

    /// - Parameter expiry: when what is claimed expires, in Unix seconds.
    package init(after expiry: Int64) {
        let (sum, overflow) = expiry.addingReportingOverflow(Self.clockTolerance)
        unixSeconds = overflow ? .max : sum
    }

    /// From now on, at least the tolerance; in milliseconds.
    func milliseconds(from now: StoreTime) -> Int64 {
        let (difference, overflow) = unixSeconds.subtractingReportingOverflow(now.unixSeconds)
        let seconds = min(max(overflow ? .max : difference, Self.clockTolerance), Self.longest)
        return seconds * 1000
    }

    /// No sign-in and no token is taken for longer; in seconds.
    private static let longest: Int64 = 366 * 86400
}

/// A moment by both clocks.
package struct StoreTime: Equatable, Sendable {
    package let monotonic: MonotonicTime
    package let unixSeconds: Int64

    package init(monotonic: MonotonicTime, unixSeconds: Int64) {
        self.monotonic = monotonic
        self.unixSeconds = unixSeconds
    }
}

/// How a store is, as one event loop sees it.
package struct StoreStatus: Sendable, Equatable {
    package let health: StoreHealth
    /// Claims that are remembered in this process; `nil`: they are remembered elsewhere.
    package let entries: Int?
}

/// Whether a claim would be answered now.
package enum StoreHealth: String, Sendable {
    case ok
    /// It can't be reached, or does not answer.
    case unreachable
    /// It holds as many claims as it may.
    case full
}
