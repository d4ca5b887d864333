/// A histogram of durations with fixed bounds.
package struct Histogram: Sendable {
    /// Inclusive upper bounds in microseconds. One more bucket has the durations above the last.
    package static let bounds: [Int64] = [
        25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    ]

    package private(set) var buckets = [Int](repeating: 0, count: bounds.count + 1)
    package private(set) var sumMicroseconds: Int64 = 0

    package init() {}

    package var count: Int { buckets.reduce(0, +) }

    package mutating func record(microseconds: Int64) {
        let bucket = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        buckets[bucket] += 1
        sumMicroseconds += microseconds
    }

    package mutating func add(_ other: Histogram) {
        for index in buckets.indices { buckets[index] += other.buckets[index] }
        sumMicroseconds += other.sumMicroseconds
    }
}
