package import Host

/// Spans that wait to be exported, and what is to be sent when. It has no clock of its own and sends nothing itself.
///
/// What it holds is bounded: where the collector is slow or away, new spans are dropped, and counted.
package struct SpanQueue: Sendable {
    private let rules: Rules
    private var waiting: [FinishedSpan] = []
    /// When the first of those that wait came, or was left behind by a batch.
    private var waitingSince: MonotonicTime?
    private var phase = Phase.idle
    private var isEnding = false
    package private(set) var counts = Counts()

    package struct Rules: Sendable {
        /// Spans that may wait, beside the batch that is being sent.
        package var capacity = 2048
        package var batch = 512
        /// How long a span waits for others to be sent with.
        package var period = Interval.seconds(5)
        /// How often a batch is sent before it is given up.
        package var attempts = 5
        /// Between the first two attempts; twice as long before each further one.
        package var firstPause = Interval.seconds(1)
        package var longestPause = Interval.seconds(60)

        package init() {}
    }

    /// What has become of spans.
    package struct Counts: Sendable, Equatable {
        package var exported = 0
        /// There was no room for them.
        package var droppedForWantOfRoom = 0
        /// The collector could not be reached, or would not have them.
        package var droppedByFailure = 0
        /// The collector took the batch, and not these.
        package var rejected = 0

        package init() {}
    }

    /// What has become of a batch.
    package enum Outcome: Sendable, Equatable {
        /// - Parameter rejected: how many of its spans the collector did not take.
        case accepted(rejected: Int)
        /// It may be taken later.
        case unavailable(reason: String, retryAfter: Interval?)
        /// It never will.
        case refused(reason: String)
    }

    private enum Phase: Sendable {
        case idle
        case sending([FinishedSpan], attempt: Int)
        case pausing([FinishedSpan], attempt: Int, until: MonotonicTime)
    }

    package init(_ rules: Rules = Rules()) { self.rules = rules }

    /// Whether nothing waits and nothing is on its way.
    package var isEmpty: Bool { if case .idle = phase { waiting.isEmpty } else { false } }

    /// Takes a span, if there is room for it.
    ///
    /// - Returns: whether a batch is full that was not before.
    package mutating func add(_ span: FinishedSpan, now: MonotonicTime) -> Bool {
        guard waiting.count < rules.capacity else {
            counts.droppedForWantOfRoom += 1
            return false
        }
        if waiting.isEmpty { waitingSince = now }
        waiting.append(span)
        return waiting.count == rules.batch
    }

    /// The batch that is to be sent now; whoever asks sends it, and says what has become of it. `nil` where there is
    /// none, or where one is on its way.
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

    /// Takes note of what has become of the batch that was on its way.
    ///
    /// - Parameter jitter: by what a pause is multiplied, so that many who lost the same collector don't come back at
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

    /// From now on nothing waits for others, and what fails is not tried again.
    package mutating func beginToEnd() { isEnding = true }
}
