package import Tracing

/// A finished span, ready for export.
package struct FinishedSpan: Sendable {
    package let context: SpanContext
    /// `nil` for the root span of a trace.
    package let parent: SpanContext?
    package let kind: SpanKind
    package let startedAtUnixNanoseconds: UInt64
    package fileprivate(set) var endedAtUnixNanoseconds: UInt64
    package var name: String
    package var attributes: SpanAttributes = [:]
    /// `nil`: unset.
    package var status: SpanStatus?

    /// A span that has started but not finished.
    init(_ name: String, _ kind: SpanKind, _ context: SpanContext, below parent: SpanContext?, at begun: UInt64) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        startedAtUnixNanoseconds = begun
        endedAtUnixNanoseconds = begun
    }

    /// The same span, finished. The end is never before the start, even if the wall clock was set back.
    func ended(at time: UInt64) -> FinishedSpan {
        var span = self
        span.endedAtUnixNanoseconds = max(time, startedAtUnixNanoseconds)
        return span
    }
}
