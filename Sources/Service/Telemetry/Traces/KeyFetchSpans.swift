package import Keys
private import Tracing

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
