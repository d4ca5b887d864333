private import Bytes
package import Keys
private import Synchronization
package import Tracing

/// Creates spans, and passes finished recorded spans to the exporter.
package final class SpanTracer: Tracer {
    private let sampler: Sampler
    private let onEnd: @Sendable (FinishedSpan) -> Void
    /// SplitMix64: IDs need to be unique, not unpredictable.
    private let state: Atomic<UInt64>

    /// - Parameters:
    ///   - seed: equal seeds yield equal sequences of IDs.
    ///   - onEnd: called with each recorded span on the thread that ended it.
    package init(
        _ sampler: Sampler, seed: UInt64 = .random(in: .min ... .max),
        onEnd: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.sampler = sampler
        self.onEnd = onEnd
        state = Atomic(seed)
    }

    // MARK: Spans

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

    /// Starts a span with a given context.
    ///
    /// - Parameter time: in Unix nanoseconds.
    package func startSpan(
        _ name: String, ofKind kind: SpanKind, named context: SpanContext, below parent: SpanContext?,
        in surroundings: InstrumentationContext = .topLevel, at time: UInt64
    ) -> TraceSpan {
        let recording = context.isSampled ? FinishedSpan(name, kind, context, below: parent, at: time) : nil
        return TraceSpan(context, in: surroundings, recording: recording, onEnd: onEnd)
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> TraceSpan {
        let surroundings = context()
        let parent = surroundings.span
        return startSpan(
            operationName, ofKind: kind, named: newContext(below: parent), below: parent, in: surroundings,
            at: instant().nanosecondsSinceEpoch)
    }

    /// Does nothing: spans are exported periodically and at shutdown.
    package func forceFlush() {}

    // MARK: Contexts

    /// Does nothing: `traceparent` is read in place, by ``SpanContext/init(traceParent:)``.
    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) {}

    /// Does nothing: providers never receive trace headers.
    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) {}

    // MARK: IDs

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

/// A span in progress. If it is not recorded, all calls do nothing.
package final class TraceSpan: Tracing.Span {
    package let spanContext: SpanContext
    /// The parent's context. ``context`` replaces the span in it.
    private let surroundings: InstrumentationContext
    /// `nil` if it is not recorded or has ended.
    private let recording: Mutex<FinishedSpan?>
    private let onEnd: @Sendable (FinishedSpan) -> Void

    init(
        _ context: SpanContext, in surroundings: InstrumentationContext, recording: FinishedSpan?,
        onEnd: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        spanContext = context
        self.surroundings = surroundings
        self.recording = Mutex(recording)
        self.onEnd = onEnd
    }

    package var context: InstrumentationContext {
        var context = surroundings
        context.span = spanContext
        return context
    }

    package var isRecording: Bool { recording.withLock { $0 != nil } }

    package var operationName: String {
        get { recording.withLock { $0?.name ?? "" } }
        set { change { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { recording.withLock { $0?.attributes ?? [:] } }
        set { change { $0.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    // Events and links are not exported: Assay adds none, and an error's text could contain anything.

    package func addEvent(_ event: SpanEvent) {}

    package func addLink(_ link: SpanLink) {}

    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}

    /// Ends the span. Only the first call counts.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let recorded = recording.withLock({ $0.take() }) else { return }
        onEnd(recorded.ended(at: instant().nanosecondsSinceEpoch))
    }

    private func change(_ change: (inout FinishedSpan) -> Void) {
        recording.withLock { recording in
            guard var span = recording.take() else { return }
            change(&span)
            recording = span
        }
    }
}

extension InstrumentationContext {
    /// The current span of this context.
    package var span: SpanContext? {
        get { self[SpanKey.self] }
        set { self[SpanKey.self] = newValue }
    }

    private enum SpanKey: InstrumentationContextKey {
        typealias Value = SpanContext
    }
}

/// Creates spans for requests to one provider, following OpenTelemetry's semantic conventions for HTTP clients.
///
/// No trace headers are sent to the provider, which does not take part in the trace.
package struct KeyFetchSpans: Sendable {
    fileprivate let tracer: SpanTracer
    fileprivate let provider: String

    package init(_ tracer: SpanTracer, provider: String) {
        self.tracer = tracer
        self.provider = provider
    }

    /// Records a span for a request, as a child of the current task's fetch span.
    package func record(_ exchange: FetchExchange) {
        let span = tracer.startSpan(
            "GET", context: .current ?? .topLevel, ofKind: .client,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: exchange.startedAtUnixNanoseconds))
        if span.isRecording {
            var attributes: SpanAttributes = [
                "http.request.method": "GET", "server.address": .string(exchange.address.host),
                "server.port": .int64(Int64(exchange.address.port)),
                // The query of a redirect's target may contain a secret.
                "url.full": .string(String(exchange.address.text.prefix { $0 != "?" })),
                "assay.provider": .string(provider),
            ]
            if let status = exchange.status { attributes["http.response.status_code"] = Int64(status) }
            if exchange.redirects > 0 { attributes["http.request.resend_count"] = exchange.redirects }
            if let failure = exchange.failure {
                let isStatus = exchange.status.map { $0 >= 400 } ?? false
                attributes["error.type"] = isStatus ? String(exchange.status ?? 0) : failure.phase.rawValue
                span.setStatus(SpanStatus(code: .error, message: failure.message))
            }
            span.attributes = attributes
        }
        let end = exchange.startedAtUnixNanoseconds + exchange.nanoseconds
        span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
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
        let span = spans.tracer.startSpan("fetch keys", context: .topLevel)
        span.attributes["assay.provider"] = spans.provider
        defer { span.end() }
        let result = await InstrumentationContext.withValue(span.context) { () -> Result<FetchedKeys, FetchFailure> in
            do throws(FetchFailure) {
                return .success(try await fetcher.fetch(mode, keyIDs: keyIDs))
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let failure) = result {
            span.attributes["error.type"] = failure.phase.rawValue
            span.setStatus(SpanStatus(code: .error, message: failure.message))
        }
        return try result.get()
    }
}
