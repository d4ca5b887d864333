package import JSON

/// A moment in whole seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
public struct UnixTime: Sendable, Hashable, Comparable {
    public let seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// Later by a number of seconds that settings or a request gave; saturates instead of overflowing.
    public func advanced(bySeconds interval: Int64) -> UnixTime {
        let (sum, overflow) = seconds.addingReportingOverflow(interval)
        return UnixTime(seconds: overflow ? (interval > 0 ? .max : .min) : sum)
    }

    /// The greatest time that a claim can say: what every JSON reader holds exactly, some 285 million years.
    static let maximumClaimed: Int64 = (1 << 53) - 1

    /// From a NumericDate that is an integer.
    init(claimedSeconds: Int64) {
        seconds = min(max(claimedSeconds, -Self.maximumClaimed), Self.maximumClaimed)
    }

    /// Reads a NumericDate (RFC 7519, section 2): any JSON number, fractional and exponent forms among them.
    ///
    /// A fraction is floored; what is beyond ±(2⁵³ − 1) becomes that bound. `nil` for anything but a number.
    package init?(numericDate value: JSONValue) {
        let bound = Self.maximumClaimed
        if let integer = value.integer {
            self.init(claimedSeconds: integer)
        } else if let double = value.double, !double.isNaN {
            let bounded = min(max(double, -Double(bound)), Double(bound))
            // Not `rounded(.down)`: that is the C library's, which a package that uses this one may not link.
            let truncated = Int64(bounded)
            self.init(seconds: Double(truncated) > bounded ? truncated - 1 : truncated)
        } else {
            return nil
        }
    }
}
