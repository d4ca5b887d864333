package import HTTP

/// Decides which of many lines of one kind are written: the first few in each window. It counts the others.
///
/// Receives the time as an argument. Its memory is bounded: kinds for which there is no room share one window.
package struct LogRateLimiter<Kind: Hashable & Sendable>: Sendable {
    private let rules: LogRateLimits
    private var windows: [Kind: Window] = [:]
    private var overflow: Window?
    /// When the first of the windows ends.
    private var nextEnd: MonotonicTime?

    /// A window in which lines of a kind occurred.
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

    /// Suppressed lines of a kind.
    package struct HeldBack {
        /// `nil` for all kinds for which there was no room.
        package let kind: Kind?
        package let count: Int
    }

    package init(_ rules: LogRateLimits = LogRateLimits()) { self.rules = rules }

    /// Whether to write another line of a kind. A window lasts until ``takeHeldBack(now:)`` ends it.
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

    /// Removes the windows that have ended, and returns what they suppressed.
    package mutating func takeHeldBack(now: MonotonicTime) -> [HeldBack] {
        guard let nextEnd, now >= nextEnd else { return [] }
        return takeHeldBack { $0.end <= now }
    }

    /// Removes all windows, and returns what they suppressed.
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

/// The parameters of a ``LogRateLimiter``.
package struct LogRateLimits: Sendable {
    /// The number of lines of a kind that are written per ``interval``.
    package var burst = 10
    package var interval = Interval.seconds(60)
    /// The number of kinds that are distinguished per ``interval``: several for each of hundreds of providers.
    package var kinds = 4096

    package init() {}
}
