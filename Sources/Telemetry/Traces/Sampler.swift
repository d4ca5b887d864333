/// Decides which traces are recorded: those that the caller records, and a fraction of those that start here.
package struct Sampler: Sendable {
    /// A trace is recorded if the last 56 bits of its ID are at least this value (OpenTelemetry, TraceState:
    /// Probability Sampling). All services that use this rule record the same traces.
    private let threshold: UInt64

    private static let end: UInt64 = 1 << 56

    /// - Parameter ratio: the fraction of the traces starting here that is recorded, from 0 to 1.
    package init(ratio: Double) {
        threshold = Self.end - UInt64((min(max(ratio, 0), 1) * Double(Self.end)).rounded())
    }

    /// Whether to record a span.
    ///
    /// - Parameters:
    ///   - parent: its parent; the span inherits the parent's decision.
    ///   - traceID: its trace.
    func records(below parent: SpanContext?, _ traceID: TraceID) -> Bool {
        parent?.isSampled ?? (traceID.low & (Self.end - 1) >= threshold)
    }
}
