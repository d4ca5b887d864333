/// Writes metrics in Prometheus's text format, version 0.0.4.
package struct PrometheusText: ~Copyable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package enum Kind: String {
        case counter, gauge, histogram
    }

    /// A value, with those of its metric's labels.
    package struct Sample {
        let values: [String]
        let value: String

        package init(_ values: [String], _ value: some Numeric) {
            self.values = values
            self.value = "\(value)"
        }
    }

    /// Starts a metric; its samples come next.
    ///
    /// - Parameter labels: those of the samples, for the page of metrics.
    mutating func metric(_ name: StaticString, _ kind: Kind, _ help: StaticString, labels _: [StaticString] = []) {
        append("# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n")
    }

    /// Writes a metric with one sample.
    mutating func metric(_ name: StaticString, _ kind: Kind, _ help: StaticString, _ value: some Numeric) {
        metric(name, kind, help, labels: [], [Sample([], value)])
    }

    /// Writes a metric with all its samples.
    ///
    /// - Parameter labels: the names; each sample has a value for each.
    mutating func metric(
        _ name: StaticString, _ kind: Kind, _ help: StaticString, labels: [StaticString], _ samples: [Sample]
    ) {
        metric(name, kind, help)
        for sample in samples {
            assert(sample.values.count == labels.count)
            append("\(name)\(text(zip(labels, sample.values).map { ("\($0)", $1) })) \(sample.value)\n")
        }
    }

    /// Writes all samples of a histogram of durations, in seconds.
    mutating func histogram(
        _ name: StaticString, _ histogram: Histogram, _ labels: [(name: String, value: String)] = []
    ) {
        var cumulative = 0
        for (bound, count) in zip(histogram.bounds, histogram.buckets) {
            cumulative += count
            append("\(name)_bucket\(text(labels + [("le", "\(Double(bound) / 1_000_000)")])) \(cumulative)\n")
        }
        append("\(name)_bucket\(text(labels + [("le", "+Inf")])) \(histogram.count)\n")
        append("\(name)_sum\(text(labels)) \(Double(histogram.sumMicroseconds) / 1_000_000)\n")
        append("\(name)_count\(text(labels)) \(histogram.count)\n")
    }

    private func text(_ labels: [(name: String, value: String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    private func escaped(_ value: String) -> String {
        func isEscaped(_ octet: UInt8) -> Bool {
            octet == UInt8(ascii: "\\") || octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\n")
        }
        // Most values have nothing to escape, and there may be thousands.
        guard value.utf8.contains(where: isEscaped) else { return value }
        let octets = value.utf8.flatMap { octet in
            isEscaped(octet) ? [UInt8(ascii: "\\"), octet == UInt8(ascii: "\n") ? UInt8(ascii: "n") : octet] : [octet]
        }
        return String(decoding: octets, as: UTF8.self)
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

/// A histogram of durations with fixed bounds.
package struct Histogram: Sendable {
    /// The default upper bounds, inclusive, in microseconds. One more bucket counts the durations above the last bound.
    package static let bounds: [Int64] = [
        25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    ]

    let bounds: [Int64]
    private(set) var buckets: [Int]
    private(set) var sumMicroseconds: Int64 = 0

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
