package import Host
package import NIOCore

/// A tracer whose spans go to a collector.
package struct TraceExport: Sendable {
    package let tracer: SpanTracer
    package let exporter: SpanExporter

    /// Begins to export.
    ///
    /// - Parameters:
    ///   - resource: who the spans are from.
    ///   - loop: where the exporter works; not one that serves requests.
    ///   - onEvent: called with what the exporter tells of itself.
    package init(
        to collector: Collector, from resource: TraceResource, sampler: Sampler, on loop: any EventLoop,
        monotonic: @escaping @Sendable () -> MonotonicTime, onEvent: @escaping @Sendable (ExportEvent) -> Void
    ) {
        let exporter = SpanExporter(
            to: collector, from: resource, on: loop, monotonic: monotonic, onEvent: onEvent)
        exporter.start()
        self.exporter = exporter
        tracer = SpanTracer(sampler) { exporter.add($0) }
    }
}
