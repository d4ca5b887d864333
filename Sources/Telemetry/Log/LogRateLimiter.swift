package import Host

/// Says which of many lines of one kind are written: the first few in a while. Of the others it keeps the number.
///
/// It is told the time, and what it holds is bounded: kinds that it has no room for share one allowance.
package struct LogRateLimiter<Kind: Hashable & Sendable>: Sendable {
    private let rules: LogRateLimits
    private var windows: [Kind: Window] = [:]
    private var overflow: Window?
    /// When the first of the windows ends.
    private var nextEnd: MonotonicTime?

    /// A while in which lines of a kind have come.
    private struct Window: Sendable {
        let end: MonotonicTime
        var written = 0
        var heldBack = 0

        mutating func admits(atMost burst: Int) -> Bool {
            guard written < burst else {
                heldBack += 1
                return false
            }
            written += 1
            return true
        }
    }

    /// Lines of a kind that were not written.
    package struct HeldBack {
        /// `nil` for all those that there was no room for.
        package let kind: Kind?
        package let count: Int
    }

    package init(_ rules: LogRateLimits = LogRateLimits()) { self.rules = rules }

    /// Whether one more line of a kind is written. A while goes on until ``takeHeldBack(now:)`` has ended it.
    package mutating func admits(_ kind: Kind, now: MonotonicTime) -> Bool {
        let new = Window(end: now + rules.interval)
        if windows[kind] == nil, windows.count >= rules.kinds {
            if overflow == nil { begin(new) }
            var window = overflow ?? new
            defer { overflow = window }
            return window.admits(atMost: rules.burst)
        }
        if windows[kind] == nil { begin(new) }
        return windows[kind, default: new].admits(atMost: rules.burst)
    }

    /// What was held back in windows that have ended, which are forgotten.
    package mutating func takeHeldBack(now: MonotonicTime) -> [HeldBack] {
        guard let nextEnd, now >= nextEnd else { return [] }
        return takeHeldBack { $0.end <= now }
    }

    /// What was held back and not yet told of; all is forgotten.
    package mutating func takeAllHeldBack() -> [HeldBack] { takeHeldBack { _ in true } }

    private mutating func takeHeldBack(where hasEnded: (Window) -> Bool) -> [HeldBack] {
        var found: [HeldBack] = []
        for (kind, window) in windows where hasEnded(window) {
            windows[kind] = nil
            if window.heldBack > 0 { found.append(HeldBack(kind: kind, count: window.heldBack)) }
        }
        if let window = overflow, hasEnded(window) {
            overflow = nil
            if window.heldBack > 0 { found.append(HeldBack(kind: nil, count: window.heldBack)) }
        }
        nextEnd = (windows.values.map(\.end) + [overflow?.end].compactMap(\.self)).min()
        return found
    }

    private mutating func begin(_ window: Window) { nextEnd = min(nextEnd ?? window.end, window.end) }
}

/// The numbers of a ``LogRateLimiter``.
package struct LogRateLimits: Sendable {
    /// So many lines of a kind are written in ``interval``.
    package var burst = 10
    package var interval = Interval.seconds(60)
    /// So many kinds are told apart in ``interval``: several for each of hundreds of providers.
    package var kinds = 4096

    package init() {}
}
