/// Detects that requests arrive faster than an event loop can answer them, and decides which of them to shed. Times are
/// microseconds of a monotonic clock.
///
/// Requests are queued in sockets until their loop reads them, and each turn handles everything that had arrived when
/// it began. While turns are short, that is the best possible queue: it costs nothing, and every response is still
/// wanted. If turns get so long that callers time out, the work is wasted. A loop with long turns therefore answers
/// requests for half of ``limit`` in each turn, and rejects the rest of the turn, which is cheap.
///
/// Without overload, a request only reads one variable. Long turns are detected by a periodic task that runs late.
package struct LoadShedder {
    /// How long a request may be queued. Approximate, because it may have arrived right after a turn began.
    package var limit: Int64

    package private(set) var isCrowded = false
    /// The start of the current turn; known only during overload.
    private var turnBeganAt: Int64?
    private var lookedAt: Int64?
    private var calmLooks = 0

    /// Overload has ended after this many consecutive ticks on time.
    private static let calmLooksToEnd = 10

    package init(limit: Int64) { self.limit = limit }

    /// The longest turn. A request that arrives during one turn waits for its end, and then for the requests before it
    /// in the next.
    private var longestTurn: Int64 { limit / 2 }

    /// Records a run of the periodic task.
    package mutating func recordTick(at now: Int64, period: Int64) {
        let late = lookedAt.map { now - $0 - period } ?? 0
        lookedAt = now
        if late > longestTurn {
            // Shedding starts at once: requests that arrive during a turn make up the next one. So at three times the
            // capacity, each turn is three times as long as the one before. If the machine only paused for a moment,
            // nothing is shed, because the backlog is soon done.
            isCrowded = true
            calmLooks = 0
        } else if late > longestTurn / 8 {
            // During overload, turns are kept at their bound, and ticks fall anywhere in them, so only nearly punctual
            // ticks count.
            calmLooks = 0
        } else if isCrowded {
            calmLooks += 1
            if calmLooks >= Self.calmLooksToEnd { isCrowded = false }
        }
    }

    /// The decision about a request during overload.
    package enum Admission {
        case admitted
        /// The first of its turn: call ``turnEnded()`` at the turn's end.
        case first
        case refused
    }

    /// Decides about a request during overload.
    package mutating func admit(at now: Int64) -> Admission {
        guard let turnBeganAt else {
            turnBeganAt = now
            return .first
        }
        return now - turnBeganAt < longestTurn ? .admitted : .refused
    }

    package mutating func turnEnded() { turnBeganAt = nil }
}
