private import Bytes
private import HTTP
package import Keys
private import Synchronization

/// Creates the IDs of spans, and passes spans that are over to the exporter.
package final class SpanTracer: Sendable {
    private let sampler: Sampler
    private let export: @Sendable (FinishedSpan) -> Void
    /// SplitMix64: IDs need to be unique, not unpredictable.
    private let state: Atomic<UInt64>

    /// - Parameters:
    ///   - seed: equal seeds yield equal sequences of IDs.
    ///   - export: called with each recorded span on the thread that recorded it.
    package init(
        _ sampler: Sampler, seed: UInt64 = .random(in: .min ... .max),
        export: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.sampler = sampler
        self.export = export
        state = Atomic(seed)
    }

    /// Creates the context of a new span, and decides whether it is recorded. Allocates nothing.
    ///
    /// - Parameter parent: the span's parent; `nil` to start a trace.
    func newContext(below parent: SpanContext?) -> SpanContext {
        let traceID = parent?.traceID ?? newTraceID()
        let isSampled = sampler.records(below: parent, traceID)
        return SpanContext(
            traceID: traceID, spanID: newSpanID(),
            flags: (parent?.flags ?? .random).subtracting(.sampled).union(isSampled ? .sampled : []),
            state: parent?.state)
    }

    /// Records a span that is over, unless its trace is not recorded.
    func record(_ span: FinishedSpan) { if span.context.isSampled { export(span) } }

    private func newTraceID() -> TraceID {
        while true {
            if let id = TraceID(high: nextNumber(), low: nextNumber()) { return id }
        }
    }

    private func newSpanID() -> SpanID {
        while true {
            if let id = SpanID(nextNumber()) { return id }
        }
    }

    private func nextNumber() -> UInt64 {
        SplitMix64.mix(state.wrappingAdd(SplitMix64.increment, ordering: .relaxed).newValue)
    }
}

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

/// Creates spans for requests to one provider, following OpenTelemetry's semantic conventions for HTTP clients.
///
/// No trace headers are sent to the provider, which does not take part in the trace.
package struct KeyFetchSpans: Sendable {
    fileprivate let tracer: SpanTracer
    fileprivate let provider: String

    /// The current task's fetch.
    @TaskLocal fileprivate static var current: SpanContext?

    package init(_ tracer: SpanTracer, provider: String) {
        self.tracer = tracer
        self.provider = provider
    }

    /// Records a span for a request, as a child of the current task's fetch span.
    package func record(_ exchange: FetchExchange) {
        let context = tracer.newContext(below: Self.current)
        guard context.isSampled else { return }
        let begun = exchange.startedAtUnixNanoseconds
        var span = FinishedSpan(
            "GET", .client, context, below: Self.current, from: begun, to: begun + exchange.nanoseconds)
        span.attributes = [
            "http.request.method": .text("GET"), "server.address": .text(exchange.address.host),
            "server.port": .number(Int64(exchange.address.port)),
            // The query of a redirect's target may contain a secret.
            "url.full": .text(String(exchange.address.text.prefix { $0 != "?" })), "assay.provider": .text(provider),
        ]
        if let status = exchange.status { span.attributes["http.response.status_code"] = .number(Int64(status)) }
        if exchange.redirects > 0 { span.attributes["http.request.resend_count"] = .number(Int64(exchange.redirects)) }
        if let failure = exchange.failure {
            let isStatus = exchange.status.map { $0 >= 400 } ?? false
            span.fail(isStatus ? String(exchange.status ?? 0) : failure.phase.rawValue, message: failure.message)
        }
        tracer.record(span)
    }
}

/// Fetches keys within a span, the parent of the spans of its requests.
package struct TracedKeyFetcher: KeyFetching {
    private let fetcher: any KeyFetching
    private let spans: KeyFetchSpans

    package init(_ fetcher: any KeyFetching, _ spans: KeyFetchSpans) {
        self.fetcher = fetcher
        self.spans = spans
    }

    package func fetch(_ mode: FetchMode, keyIDs: [String]) async throws(FetchFailure) -> FetchedKeys {
        let context = spans.tracer.newContext(below: nil)
        let begun = SystemClocks.unixNanoseconds()
        let result = await KeyFetchSpans.$current.withValue(context) { () -> Result<FetchedKeys, FetchFailure> in
            do throws(FetchFailure) {
                return .success(try await fetcher.fetch(mode, keyIDs: keyIDs))
            } catch {
                return .failure(error)
            }
        }
        var span = FinishedSpan(
            "fetch keys", .internal, context, below: nil, from: begun, to: SystemClocks.unixNanoseconds())
        span.attributes["assay.provider"] = .text(spans.provider)
        if case .failure(let failure) = result { span.fail(failure.phase.rawValue, message: failure.message) }
        spans.tracer.record(span)
        return try result.get()
    }
}
