/// Whether requests come faster than an event loop answers them, and which of them are then turned away. Times are
/// microseconds of a monotonic clock.
///
/// What has come in waits in sockets until its loop takes it up, and a loop takes up in one turn all that wait when the turn
/// begins. While turns are short, that is the best queue there is: it costs nothing, and every answer is one that was asked
/// for. Where turns get so long that callers give up, work would be done for nobody. A loop that has long turns therefore
/// answers for as long as ``limit`` allows in each, and turns the rest of the turn away, which costs little.
///
/// Until then a request costs a look at one variable: that turns are long shows in a task that the loop runs late.
package struct LoadShedder {
    /// How long a request may wait until it is taken up; about, since it may have come right after a turn began.
    package var limit: Int64

    package private(set) var isCrowded = false
    /// When the turn began that is under way; only known while crowded.
    private var turnBeganAt: Int64?
    private var lookedAt: Int64?
    private var calmLooks = 0

    /// So often must the loop have been in time, one look after the other, until it counts as no longer crowded.
    private static let calmLooksToEnd = 10

    package init(limit: Int64) { self.limit = limit }

    /// How long a turn may be: what comes in during one waits for its end, and then for those before it in the next.
    private var longestTurn: Int64 { limit / 2 }

    /// Notes that a task ran which the loop had been asked to run a period after the one before.
    package mutating func recordTick(at now: Int64, period: Int64) {
        let late = lookedAt.map { now - $0 - period } ?? 0
        lookedAt = now
        if late > longestTurn {
            // At once: what comes during a turn makes the next one, and at three times the capacity each is three times the
            // one before. A machine that only stood still for a moment has nobody turned away, since what waits is soon done.
            isCrowded = true
            calmLooks = 0
        } else if late > longestTurn / 8 {
            // While more come than can be answered, turns are kept to their bound, and looks fall anywhere in them.
            calmLooks = 0
        } else if isCrowded {
            calmLooks += 1
            if calmLooks >= Self.calmLooksToEnd { isCrowded = false }
        }
    }

    /// What becomes of a request that is taken up while crowded.
    package enum Admission {
        case admitted
        /// The first of its turn: ``turnEnded()`` has to be called at the turn's end.
        case first
        case refused
    }

    /// Takes up a request, while crowded.
    package mutating func admit(at now: Int64) -> Admission {
        guard let turnBeganAt else {
            turnBeganAt = now
            return .first
        }
        return now - turnBeganAt < longestTurn ? .admitted : .refused
    }

    package mutating func turnEnded() { turnBeganAt = nil }
}
