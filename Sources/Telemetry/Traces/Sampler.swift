/// Decides which traces are recorded: those that the caller records, and of those that begin here, a share.
package struct Sampler: Sendable {
    /// A trace is recorded if the last 56 bits of its id are no less (OpenTelemetry, TraceState: Probability Sampling),
    /// so that whoever goes by the same rule records the same traces.
    private let threshold: UInt64

    private static let end: UInt64 = 1 << 56

    /// - Parameter ratio: the share of the traces that begin here, from 0 to 1.
    package init(ratio: Double) {
        threshold = Self.end - UInt64((min(max(ratio, 0), 1) * Double(Self.end)).rounded())
    }

    /// Whether a span is recorded.
    ///
    /// - Parameters:
    ///   - parent: the span that it is a part of; its trace's decision has been made.
    ///   - traceID: its trace.
    func records(below parent: SpanContext?, _ traceID: TraceID) -> Bool {
        parent?.isSampled ?? (traceID.low & (Self.end - 1) >= threshold)
    }
}
