package import Host
package import IDToken

/// The time of a verification, on both clocks.
package struct VerificationTime {
    /// For comparison with the age of keys.
    package let monotonic: MonotonicTime
    /// For comparison with the token's times.
    package let wall: UnixTime

    package static func now() -> VerificationTime {
        VerificationTime(
            monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}
