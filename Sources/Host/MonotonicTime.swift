/// A time on a monotonic clock, in milliseconds since an arbitrary start.
///
/// Freshness and rate limits use it, because the wall clock may jump.
///
/// It replaces the language's `ContinuousClock.Instant` and `Duration`: each request compares several of these, and
/// they take one word instead of two. Tests create them from numbers.
package struct MonotonicTime: Sendable, Hashable, Comparable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.milliseconds < right.milliseconds }

    package static func + (time: MonotonicTime, interval: Interval) -> MonotonicTime {
        MonotonicTime(milliseconds: time.milliseconds + interval.milliseconds)
    }

    package static func - (time: MonotonicTime, interval: Interval) -> MonotonicTime {
        MonotonicTime(milliseconds: time.milliseconds - interval.milliseconds)
    }

    package static func - (left: MonotonicTime, right: MonotonicTime) -> Interval {
        Interval(milliseconds: left.milliseconds - right.milliseconds)
    }
}

/// A duration.
package struct Interval: Sendable, Hashable, Comparable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func seconds(_ seconds: Int64) -> Interval { Interval(milliseconds: seconds * 1000) }

    /// The duration in microseconds.
    package var microseconds: Int64 { milliseconds * 1000 }

    /// The duration in seconds, rounded up.
    package var secondsRoundedUp: Int64 { (milliseconds + 999) / 1000 }

    package static func < (left: Interval, right: Interval) -> Bool { left.milliseconds < right.milliseconds }

    package static func * (interval: Interval, factor: Double) -> Interval {
        Interval(milliseconds: Int64(Double(interval.milliseconds) * factor))
    }

    package static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds + right.milliseconds)
    }
}
