/// Bytes of unread responses, by the number of ticks for which their clients have read almost nothing.
struct UnreadByAge: Equatable {
    /// The highest age, in ticks: ten seconds. Older bytes count as this old. A client that is starved of CPU for a few
    /// seconds must not count as slow as one that never reads.
    static let oldest = 40

    private var bytes = [Int](repeating: 0, count: oldest + 1)

    mutating func add(_ count: Int, age: Int) { bytes[min(age, Self.oldest)] += count }

    func total(olderThan age: Int) -> Int { bytes.dropFirst(age + 1).reduce(0, +) }

    /// Subtracts an old value from a sum, and adds a new one.
    mutating func replace(_ part: UnreadByAge, by other: UnreadByAge) {
        for age in bytes.indices { bytes[age] += other.bytes[age] - part.bytes[age] }
    }
}
