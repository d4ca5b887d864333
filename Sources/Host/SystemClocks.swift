private import Glibc

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
