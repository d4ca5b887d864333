private import Bytes
package import HTTP
package import NIOCore
private import Synchronization

/// Sends spans to a collector in batches, on a loop that serves no requests. Adding a span never blocks.
package final class SpanExporter: Sendable {
    private let queue = Mutex(SpanQueue())
    private let state = Mutex(State())
    private let traces: OTLPTraces
    private let collector: Collector
    private let loop: any EventLoop
    private let log: Log

    private struct State: Sendable {
        var pollTimer: RepeatedTask?
        var isFailing = false
    }

    /// How often to check whether a batch is due.
    private static let pollInterval = TimeAmount.seconds(1)

    /// Starts the exporter.
    ///
    /// - Parameters:
    ///   - resource: the source of the spans.
    ///   - loop: the loop on which the exporter runs; not one that serves requests.
    ///   - log: for messages when exports start to fail and when they recover.
    package init(to collector: Collector, from resource: TraceResource, on loop: any EventLoop, log: Log) {
        traces = OTLPTraces(resource: resource)
        self.collector = collector
        self.loop = loop
        self.log = log
        let pollTimer = loop.scheduleRepeatedTask(initialDelay: Self.pollInterval, delay: Self.pollInterval) { _ in
            self.send()
        }
        state.withLock { $0.pollTimer = pollTimer }
    }

    /// Queues a finished span, from any thread.
    package func add(_ span: FinishedSpan) {
        let now = SystemClocks.monotonic()
        if queue.withLock({ $0.add(span, now: now) }) { loop.execute { self.send() } }
    }

    package var counts: SpanQueue.Counts { queue.withLock(\.counts) }

    /// Sends the remaining spans, for at most the given time.
    package func stop(atMost limit: Interval) async {
        state.withLock { $0.pollTimer.take() }?.cancel()
        queue.withLock { $0.beginToEnd() }
        loop.execute { self.send() }
        let end = SystemClocks.monotonic() + limit
        while !queue.withLock(\.isEmpty), SystemClocks.monotonic() < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends the batches that are due, one after the other.
    private func send() {
        let now = SystemClocks.monotonic()
        guard let batch = queue.withLock({ $0.nextBatch(now: now) }) else { return }
        let sent = loop.makeFutureWithTask { await self.collector.send(self.traces.json(batch)) }
        sent.whenSuccess { outcome in
            let now = SystemClocks.monotonic()
            self.queue.withLock { $0.ended(outcome, now: now) }
            self.report(outcome)
            self.send()
        }
    }

    private func report(_ outcome: SpanQueue.Outcome) {
        let wasFailing = state.withLock { state in
            defer { if case .accepted = outcome { state.isFailing = false } else { state.isFailing = true } }
            return state.isFailing
        }
        switch outcome {
        case .accepted: if wasFailing { log.write(.info, "spans can be exported again") }
        case .unavailable(let reason, _), .refused(let reason):
            // Logs only changes, unless the level is `debug`.
            log.write(wasFailing ? .debug : .warning, "spans can't be exported", [("reason", .text(reason))])
        }
    }
}

/// A tracer and the exporter that sends its spans to a collector.
package struct TraceExport: Sendable {
    package let tracer: SpanTracer
    package let exporter: SpanExporter

    package init(_ exporter: SpanExporter, sampler: Sampler) {
        self.exporter = exporter
        tracer = SpanTracer(sampler) { exporter.add($0) }
    }
}

/// The source of the spans (OpenTelemetry, semantic conventions for resources).
package struct TraceResource: Sendable {
    let attributes: [(name: String, value: String)]
    let serviceVersion: String

    /// - Parameters:
    ///   - instanceID: distinguishes this process from others of the same service.
    ///   - others: attributes from the environment. They override the built-in ones, except `service.name`.
    package init(
        serviceName: String, serviceVersion: String, instanceID: String, others: [(name: String, value: String)] = []
    ) {
        let own = [
            ("service.name", serviceName), ("service.version", serviceVersion), ("service.instance.id", instanceID),
        ]
        // The service name has a setting of its own, whose precedence has already been resolved.
        let added = others.filter { $0.name != "service.name" }
        attributes = own.filter { own in !added.contains { $0.name == own.0 } } + added
        self.serviceVersion = serviceVersion
    }

    /// A random ID for this process: 32 hexadecimal digits.
    package static func randomInstanceID() -> String {
        String(hexadecimal: .random(in: .min ... .max), .random(in: .min ... .max))
    }
}
