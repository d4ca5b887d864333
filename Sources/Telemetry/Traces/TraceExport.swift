/// A tracer and the exporter that sends its spans to a collector.
package struct TraceExport: Sendable {
    package let tracer: SpanTracer
    package let exporter: SpanExporter

    package init(_ exporter: SpanExporter, sampler: Sampler) {
        self.exporter = exporter
        tracer = SpanTracer(sampler) { exporter.add($0) }
    }
}
