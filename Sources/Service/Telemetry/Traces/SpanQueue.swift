package import HTTP

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
        package var firstPause = Interval.seconds(1)
        package var longestPause = Interval.seconds(60)

        package init() {}
    }

    /// The numbers of spans, by what happened to them.
    package struct Counts: Sendable, Equatable {
        package var exported = 0
        /// The queue was full.
        package var droppedForWantOfRoom = 0
        /// The collector could not be reached, or refused the batch.
        package var droppedByFailure = 0
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
    package mutating func nextBatch(now: MonotonicTime) -> [FinishedSpan]? {
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
    package mutating func beginToEnd() { isEnding = true }
}
