/// Counts by a label with few values, such as a response's status or a verdict's code.
///
/// Uses a linear search, which usually ends at the first entry. A dictionary hashed each request's label twice, which
/// cost as much as parsing a JOSE header.
package struct Counter<Label: Equatable & Sendable>: Sendable {
    private var entries: [(label: Label, count: Int)] = []

    package init() {}

    package mutating func count(_ label: Label) { add(1, to: label) }

    package mutating func add(_ other: Counter) {
        for (label, count) in other { add(count, to: label) }
    }

    private mutating func add(_ count: Int, to label: Label) {
        for index in entries.indices where entries[index].label == label {
            entries[index].count += count
            return
        }
        entries.append((label, count))
    }
}

extension Counter: Sequence {
    package func makeIterator() -> some IteratorProtocol<(label: Label, count: Int)> { entries.makeIterator() }
}
