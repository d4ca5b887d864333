/// A histogram of durations with fixed bounds.
package struct Histogram: Sendable {
    /// The default upper bounds, inclusive, in microseconds. One more bucket counts the durations above the last bound.
    package static let bounds: [Int64] = [
        25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    ]

    let bounds: [Int64]
    package private(set) var buckets: [Int]
    package private(set) var sumMicroseconds: Int64 = 0

    package init(bounds: [Int64] = Histogram.bounds) {
        self.bounds = bounds
        buckets = [Int](repeating: 0, count: bounds.count + 1)
    }

    package var count: Int { buckets.reduce(0, +) }

    package mutating func record(microseconds: Int64) {
        let bucket = bounds.firstIndex { microseconds <= $0 } ?? bounds.count
        buckets[bucket] += 1
        sumMicroseconds += microseconds
    }

    /// - Parameter other: must have the same bounds.
    package mutating func add(_ other: Histogram) {
        for index in buckets.indices { buckets[index] += other.buckets[index] }
        sumMicroseconds += other.sumMicroseconds
    }
}
