/// Counts of things that are few: an answer's status, a verdict's code.
///
/// A list that is looked through, most of the time as far as its first entry: a dictionary hashed the label of each request
/// twice, at the price of a JOSE header.
package struct Counter<Label: Equatable & Sendable>: Sendable {
    private var entries: [(label: Label, count: Int)] = []

    package init() {}

    package mutating func count(_ label: Label) { add(1, to: label) }

    package mutating func add(_ other: Counter) {
        for (label, count) in other { add(count, to: label) }
    }

    /// How often a thing was counted.
    package subscript(label: Label) -> Int { entries.first { $0.label == label }?.count ?? 0 }

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
