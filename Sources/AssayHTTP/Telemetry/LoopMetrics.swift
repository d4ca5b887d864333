/// What one event loop counts. Plain variables of that loop; they are summed up when somebody asks.
struct LoopMetrics: Sendable {
    /// Verdicts by provider, `nil` where none was found, and code; `ok` where the token verified.
    private(set) var verifications: [Verdict: Int] = [:]
    /// Answers by route and status.
    private(set) var requests: [Answer: Int] = [:]
    /// Durations of `POST /v1/verify`.
    private(set) var verifyDurations = Histogram()

    struct Verdict: Hashable {
        let provider: Int?
        let code: String
    }

    struct Answer: Hashable {
        let route: Route
        let status: UInt
    }

    mutating func countVerification(provider: Int?, code: String) {
        verifications[Verdict(provider: provider, code: code), default: 0] += 1
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

/// Counts of durations below fixed bounds.
struct Histogram: Sendable {
    /// Upper bounds in microseconds, inclusive; what is above the last falls into one more bucket.
    static let bounds: [Int64] = [
        25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    ]

    private(set) var buckets = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sumMicroseconds: Int64 = 0

    var count: Int { buckets.reduce(0, +) }

    mutating func record(microseconds: Int64) {
        let bucket = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        buckets[bucket] += 1
        sumMicroseconds += microseconds
    }

    mutating func add(_ other: Histogram) {
        for index in buckets.indices { buckets[index] += other.buckets[index] }
        sumMicroseconds += other.sumMicroseconds
    }
}
