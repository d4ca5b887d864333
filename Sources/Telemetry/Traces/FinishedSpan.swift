package import Tracing

/// A span that has ended, as it is exported.
package struct FinishedSpan: Sendable {
    package let context: SpanContext
    /// The span that it is a part of; `nil` where its trace begins with it.
    package let parent: SpanContext?
    package let kind: SpanKind
    package let startedAtUnixNanoseconds: UInt64
    package fileprivate(set) var endedAtUnixNanoseconds: UInt64
    package var name: String
    package var attributes: SpanAttributes = [:]
    /// `nil`: nothing is said of how it went, which means well.
    package var status: SpanStatus?

    /// A span that begins, and has not ended yet.
    init(_ name: String, _ kind: SpanKind, _ context: SpanContext, below parent: SpanContext?, at begun: UInt64) {
        self.name = name
        self.kind = kind
        self.context = context
        self.parent = parent
        startedAtUnixNanoseconds = begun
        endedAtUnixNanoseconds = begun
    }

    /// The same span, ended. It never ends before it has begun, whatever the wall clock says.
    func ended(at time: UInt64) -> FinishedSpan {
        var span = self
        span.endedAtUnixNanoseconds = max(time, startedAtUnixNanoseconds)
        return span
    }
}
