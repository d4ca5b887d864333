package import Host
package import NIOCore
private import Synchronization

/// Sends spans to a collector, a batch at a time, on a loop that serves no requests. Whoever ends a span waits for
/// nothing.
package final class SpanExporter: Sendable {
    private let queue: Mutex<SpanQueue>
    private let state = Mutex(State())
    private let traces: OTLPTraces
    private let collector: Collector
    private let loop: any EventLoop
    private let monotonic: @Sendable () -> MonotonicTime
    private let onEvent: @Sendable (ExportEvent) -> Void

    private struct State: Sendable {
        var pollTimer: RepeatedTask?
        var isFailing = false
    }

    /// How often is looked whether something has waited long enough.
    private static let pollInterval = TimeAmount.seconds(1)

    /// - Parameters:
    ///   - resource: who the spans are from.
    ///   - onEvent: called with each failure, and with the first success after one.
    package init(
        to collector: Collector, from resource: TraceResource, rules: SpanQueue.Rules = SpanQueue.Rules(),
        on loop: any EventLoop, monotonic: @escaping @Sendable () -> MonotonicTime,
        onEvent: @escaping @Sendable (ExportEvent) -> Void
    ) {
        queue = Mutex(SpanQueue(rules))
        traces = OTLPTraces(resource: resource)
        self.collector = collector
        self.loop = loop
        self.monotonic = monotonic
        self.onEvent = onEvent
    }

    /// Sends what comes from now on, until it is stopped.
    package func start() {
        let pollTimer = loop.scheduleRepeatedTask(initialDelay: Self.pollInterval, delay: Self.pollInterval) { _ in
            self.send()
        }
        state.withLock { $0.pollTimer = pollTimer }
    }

    /// Takes a span that has ended; from any thread.
    package func add(_ span: FinishedSpan) {
        let now = monotonic()
        if queue.withLock({ $0.add(span, now: now) }) { loop.execute { self.send() } }
    }

    package var counts: SpanQueue.Counts { queue.withLock(\.counts) }

    /// Sends what is left, for so long at most.
    package func stop(atMost limit: Interval) async {
        state.withLock { $0.pollTimer.take() }?.cancel()
        queue.withLock { $0.beginToEnd() }
        loop.execute { self.send() }
        let end = monotonic() + limit
        while !queue.withLock(\.isEmpty), monotonic() < end { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Sends the batch that is due, if one is, and those behind it.
    private func send() {
        let now = monotonic()
        guard let batch = queue.withLock({ $0.nextBatch(now: now) }) else { return }
        let sent = loop.makeFutureWithTask { await self.collector.send(self.traces.json(batch)) }
        sent.whenSuccess { outcome in
            let now = self.monotonic()
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
        case .accepted: if wasFailing { onEvent(.recovered) }
        case .unavailable(let reason, _), .refused(let reason): onEvent(.failed(reason: reason, isFirst: !wasFailing))
        }
    }
}

/// What an exporter tells of itself, for the log.
package enum ExportEvent: Sendable, Equatable {
    /// - Parameters:
    ///   - reason: a text written in this code.
    ///   - isFirst: whether the export before it had not failed.
    case failed(reason: String, isFirst: Bool)
    /// An export succeeded after others had failed.
    case recovered
}
