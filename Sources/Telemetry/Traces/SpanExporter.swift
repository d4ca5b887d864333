package import Host
package import NIOCore
private import Synchronization

/// Sends spans to a collector, a batch at a time, on a loop that serves no requests. Whoever ends a span waits for
/// nothing.
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

    /// How often is looked whether something has waited long enough.
    private static let pollInterval = TimeAmount.seconds(1)

    /// Begins to send what comes from now on.
    ///
    /// - Parameters:
    ///   - resource: who the spans are from.
    ///   - loop: where the exporter works; not one that serves requests.
    ///   - log: is told when exports begin to fail, and when they succeed again.
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

    /// Takes a span that has ended; from any thread.
    package func add(_ span: FinishedSpan) {
        let now = SystemClocks.monotonic()
        if queue.withLock({ $0.add(span, now: now) }) { loop.execute { self.send() } }
    }

    package var counts: SpanQueue.Counts { queue.withLock(\.counts) }

    /// Sends what is left, for so long at most.
    package func stop(atMost limit: Interval) async {
        state.withLock { $0.pollTimer.take() }?.cancel()
        queue.withLock { $0.beginToEnd() }
        loop.execute { self.send() }
        let end = SystemClocks.monotonic() + limit
        while !queue.withLock(\.isEmpty), SystemClocks.monotonic() < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends the batch that is due, if one is, and those behind it.
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
            // One line at each change, unless every failure is wanted.
            log.write(wasFailing ? .debug : .warning, "spans can't be exported", [("reason", .text(reason))])
        }
    }
}
