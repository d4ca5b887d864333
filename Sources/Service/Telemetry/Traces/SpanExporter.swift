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

/// The queue of spans to export, and the schedule of batches. It receives the time as an argument and does no I/O.
///
/// Its size is bounded: if the collector is slow or down, new spans are dropped and counted.
package struct SpanQueue: Sendable {
    private let rules: Rules
    private var waiting: [FinishedSpan] = []
    /// When the oldest queued span arrived, or was left over from a batch.
    private var waitingSince: MonotonicTime?
    private var phase = Phase.idle
    private var isEnding = false
    package private(set) var counts = Counts()

    package struct Rules: Sendable {
        /// The maximum number of queued spans, not counting the batch in flight.
        package var capacity = 2048
        package var batch = 512
        /// The longest that a span waits for its batch to fill up.
        package var period = Interval.seconds(5)
        /// The number of attempts to send a batch before it is dropped.
        package var attempts = 5
        /// The backoff after the first attempt. It doubles after each further one.
        var firstPause = Interval.seconds(1)
        var longestPause = Interval.seconds(60)

        package init() {}
    }

    /// The numbers of spans, by what happened to them.
    package struct Counts: Sendable, Equatable {
        var exported = 0
        /// The queue was full.
        var droppedForWantOfRoom = 0
        /// The collector could not be reached, or refused the batch.
        var droppedByFailure = 0
        /// The collector accepted the batch, but not these spans.
        package var rejected = 0

        package init() {}
    }

    /// The result of sending a batch.
    package enum Outcome: Sendable, Equatable {
        /// - Parameter rejected: how many of its spans the collector rejected.
        case accepted(rejected: Int)
        /// The batch may be retried.
        case unavailable(reason: String, retryAfter: Interval?)
        /// The batch must not be retried.
        case refused(reason: String)
    }

    private enum Phase: Sendable {
        case idle
        case sending([FinishedSpan], attempt: Int)
        case pausing([FinishedSpan], attempt: Int, until: MonotonicTime)
    }

    package init(_ rules: Rules = Rules()) { self.rules = rules }

    /// Whether no span is queued or in flight.
    package var isEmpty: Bool { if case .idle = phase { waiting.isEmpty } else { false } }

    /// Queues a span, if there is room.
    ///
    /// - Returns: whether this completed a batch.
    package mutating func add(_ span: FinishedSpan, now: MonotonicTime) -> Bool {
        guard waiting.count < rules.capacity else {
            counts.droppedForWantOfRoom += 1
            return false
        }
        if waiting.isEmpty { waitingSince = now }
        waiting.append(span)
        return waiting.count == rules.batch
    }

    /// The batch to send now; the caller must send it and report the outcome. `nil` if none is due, or if one is in
    /// flight.
    mutating func nextBatch(now: MonotonicTime) -> [FinishedSpan]? {
        switch phase {
        case .sending: return nil
        case .pausing(let batch, let attempt, let end):
            guard now >= end || isEnding else { return nil }
            phase = .sending(batch, attempt: attempt + 1)
            return batch
        case .idle:
            guard let waitingSince, isEnding || waiting.count >= rules.batch || now >= waitingSince + rules.period
            else { return nil }
            let batch = Array(waiting.prefix(rules.batch))
            waiting.removeFirst(batch.count)
            self.waitingSince = waiting.isEmpty ? nil : now
            phase = .sending(batch, attempt: 1)
            return batch
        }
    }

    /// Records the outcome of the batch in flight.
    ///
    /// - Parameter jitter: a factor for the backoff, so that many clients of a collector that failed don't retry at
    ///   once.
    package mutating func ended(_ outcome: Outcome, now: MonotonicTime, jitter: Double = .random(in: 0.5...1)) {
        guard case .sending(let batch, let attempt) = phase else { return }
        phase = .idle
        switch outcome {
        case .accepted(let rejected):
            let rejected = min(max(rejected, 0), batch.count)
            counts.exported += batch.count - rejected
            counts.rejected += rejected
        case .unavailable(_, let retryAfter) where attempt < rules.attempts && !isEnding:
            let pause = retryAfter ?? rules.firstPause * Double(1 << (attempt - 1)) * jitter
            phase = .pausing(batch, attempt: attempt, until: now + min(pause, rules.longestPause))
        case .unavailable, .refused: counts.droppedByFailure += batch.count
        }
    }

    /// From now on, batches are due at once, and failures are not retried.
    mutating func beginToEnd() { isEnding = true }
}
