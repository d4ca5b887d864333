private import Bytes
private import Glibc

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

/// The machine's clocks. Types that make decisions don't read them; they receive the time as an argument.
package enum SystemClocks {
    /// The wall clock, in Unix seconds.
    package static func unixSeconds() -> Int64 { read(CLOCK_REALTIME).seconds }

    /// The wall clock, in Unix milliseconds.
    package static func unixMilliseconds() -> Int64 { milliseconds(CLOCK_REALTIME) }

    /// The wall clock, in Unix nanoseconds.
    package static func unixNanoseconds() -> UInt64 {
        let time = read(CLOCK_REALTIME)
        return UInt64(max(time.seconds, 0)) * 1_000_000_000 + UInt64(time.nanoseconds)
    }

    /// A monotonic clock that also runs while the machine is suspended, because keys age meanwhile.
    package static func monotonic() -> MonotonicTime {
        MonotonicTime(milliseconds: milliseconds(CLOCK_BOOTTIME))
    }

    /// A monotonic clock, in microseconds since an arbitrary start.
    package static func monotonicMicroseconds() -> Int64 {
        let time = read(CLOCK_MONOTONIC)
        return time.seconds * 1_000_000 + time.nanoseconds / 1000
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        let time = read(clock)
        return time.seconds * 1000 + time.nanoseconds / 1_000_000
    }

    private static func read(_ clock: clockid_t) -> (seconds: Int64, nanoseconds: Int64) {
        var time = timespec()
        // These clocks exist on every Linux, so this can't fail.
        unsafe clock_gettime(clock, &time)
        return (Int64(time.tv_sec), Int64(time.tv_nsec))
    }
}

/// Timestamps in the format of RFC 3339.
package enum Timestamp {
    /// For example `2026-11-21T09:18:00.125Z`.
    package static func text(unixMilliseconds: Int64) -> String {
        let (date, time) = CivilDate.split(unixSeconds: unixMilliseconds / 1000)
        return "\(date.text)T\(clock(time)).\(padded(unixMilliseconds % 1000, 3))Z"
    }
}

/// IMF-fixdate, HTTP's preferred date format: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Unix seconds; `nil` for anything else, including the obsolete formats and dates that don't exist.
    package static func seconds(from text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29 else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            bytes[range].reduce(0 as Int64?) { sum, byte in
                guard let sum, byte.isDigit else { return nil }
                return sum * 10 + Int64(byte - 0x30)
            }
        }
        guard let day = number(5..<7), let year = number(12..<16), let hour = number(17..<19),
            let minute = number(20..<22),
            let second = number(23..<25),
            let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self))
        else { return nil }
        // A leap second counts as the second after it.
        let date = CivilDate(year: year, month: Int64(month) + 1, day: day).days
        let seconds = date * 86400 + hour * 3600 + minute * 60 + second
        let isWritten = self.text(unixSeconds: second == 60 ? seconds - 1 : seconds)
        let expected = second == 60 ? text.replacing(":60 ", with: ":59 ") : text
        return isWritten == expected ? seconds : nil
    }

    package static func text(unixSeconds: Int64) -> String {
        let (date, time) = CivilDate.split(unixSeconds: unixSeconds)
        let weekday = weekdays[Int((date.days % 7 + 7) % 7)]
        let month = months[Int(date.month) - 1]
        return "\(weekday), \(padded(date.day, 2)) \(month) \(padded(date.year, 4)) \(clock(time)) GMT"
    }
}
