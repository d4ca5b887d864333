/// What one event loop counts. Plain variables of that loop; they are summed up when somebody asks.
struct LoopMetrics: Sendable {
    /// Verdicts by provider, `nil` where none was found, and code; `ok` where the token verified.
    private(set) var verifications: [VerdictLabel: Int] = [:]
    /// Answers by route and status.
    private(set) var requests: [Answer: Int] = [:]
    /// Durations of `POST /v1/verify`.
    private(set) var verifyDurations = Histogram()

    struct VerdictLabel: Hashable {
        let provider: Int?
        let code: String
    }

    struct Answer: Hashable {
        let route: Route
        let status: UInt
    }

    mutating func countVerification(provider: Int?, code: String) {
        verifications[VerdictLabel(provider: provider, code: code), default: 0] += 1
    }

    mutating func countRequest(_ route: Route, status: UInt, microseconds: Int64) {
        requests[Answer(route: route, status: status), default: 0] += 1
        if route == .verify { verifyDurations.record(microseconds: microseconds) }
    }

    mutating func add(_ other: LoopMetrics) {
        verifications.merge(other.verifications, uniquingKeysWith: +)
        requests.merge(other.requests, uniquingKeysWith: +)
        verifyDurations.add(other.verifyDurations)
    }
}
