/// What one event loop counts. Plain variables of that loop; they are summed up when somebody asks.
struct LoopMetrics: Sendable {
    /// Verdicts by the provider's number, `nil` where none was found, and code; `ok` where the token verified.
    private(set) var verifications = Tally<VerdictLabel>()
    /// Answers by route and status.
    private(set) var requests = Tally<Answer>()
    /// Requests that would have waited too long for their turn.
    private(set) var refusedByQueue = 0
    /// Durations of `POST /v1/verify`.
    private(set) var verifyDurations = Histogram()

    struct VerdictLabel: Equatable {
        let provider: Int?
        let code: String
    }

    struct Answer: Equatable {
        let route: Route
        let status: UInt
    }

    init() {}

    init(sumOf parts: [LoopMetrics]) { for part in parts { add(part) } }

    mutating func countVerification(provider: Int?, code: String) {
        verifications.count(VerdictLabel(provider: provider, code: code))
    }

    mutating func countRequest(_ route: Route, status: UInt, microseconds: Int64) {
        requests.count(Answer(route: route, status: status))
        if route == .verify { verifyDurations.record(microseconds: microseconds) }
    }

    mutating func countRefusalByQueue() { refusedByQueue += 1 }

    mutating func add(_ other: LoopMetrics) {
        verifications.add(other.verifications)
        requests.add(other.requests)
        refusedByQueue += other.refusedByQueue
        verifyDurations.add(other.verifyDurations)
    }
}
