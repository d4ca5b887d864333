package import JSON

/// A time in whole seconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct UnixTime: Sendable, Hashable, Comparable {
    public let seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// Adds a number of seconds from the settings or a request. Saturates instead of overflowing.
    public func advanced(bySeconds interval: Int64) -> UnixTime {
        let (sum, overflow) = seconds.addingReportingOverflow(interval)
        return UnixTime(seconds: overflow ? (interval > 0 ? .max : .min) : sum)
    }

    /// The latest time that a claim can state, some 285 million years away. Every JSON reader represents it exactly.
    static let maximumClaimed: Int64 = (1 << 53) - 1

    /// From a NumericDate that is an integer.
    init(claimedSeconds: Int64) {
        seconds = min(max(claimedSeconds, -Self.maximumClaimed), Self.maximumClaimed)
    }

    /// Reads a NumericDate (RFC 7519, section 2): any JSON number, including fractions and exponents.
    ///
    /// Fractions are rounded down. Values beyond ±(2⁵³ − 1) are clamped. `nil` if the value is not a number.
    package init?(numericDate value: JSONValue) {
        let bound = Self.maximumClaimed
        if let integer = value.integer {
            self.init(claimedSeconds: integer)
        } else if let double = value.double, !double.isNaN {
            let bounded = min(max(double, -Double(bound)), Double(bound))
            // Not `rounded(.down)`: it needs the C math library, which packages that depend on this one may not link.
            let truncated = Int64(bounded)
            self.init(seconds: Double(truncated) > bounded ? truncated - 1 : truncated)
        } else {
            return nil
        }
    }
}
