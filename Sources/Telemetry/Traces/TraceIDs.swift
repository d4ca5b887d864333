private import Bytes

/// The ID of a trace: 16 octets, not all 0 (W3C Trace Context, 3.2.2.3).
package struct TraceID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    /// `nil` if all octets are 0, which is not a valid ID.
    package init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// 32 lower-case hexadecimal digits.
    package var text: String { String(hexadecimal: high, low) }
}

/// The ID of a span within its trace: 8 octets, not all 0 (W3C Trace Context, 3.2.2.4).
package struct SpanID: Sendable, Hashable {
    let value: UInt64

    /// `nil` for 0, which is not a valid ID.
    package init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// 16 lower-case hexadecimal digits.
    package var text: String { String(hexadecimal: value) }
}

/// The flags of a trace (W3C Trace Context, 3.2.2.5).
package struct TraceFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The trace is recorded.
    package static let sampled = TraceFlags(rawValue: 1)
    /// The last 7 octets of the trace ID are random (level 2).
    package static let random = TraceFlags(rawValue: 2)

    /// Two hexadecimal digits.
    package var text: String { (rawValue < 16 ? "0" : "") + String(rawValue, radix: 16) }
}
