/// Counts by a label with few values, such as a response's status or a verdict's code.
///
/// Uses a linear search, which usually ends at the first entry. A dictionary hashed each request's label twice, which
/// cost as much as parsing a JOSE header.
struct Counter<Label: Equatable & Sendable>: Sendable {
    private var entries: [Entry] = []

    // Not a tuple: Swift looks up the metadata of a generic tuple at run time.
    private struct Entry {
        let label: Label
        var count: Int
    }

    mutating func count(_ label: Label) { add(1, to: label) }

    mutating func add(_ other: Counter) {
        for (label, count) in other { add(count, to: label) }
    }

    private mutating func add(_ count: Int, to label: Label) {
        for index in entries.indices where entries[index].label == label {
            entries[index].count += count
            return
        }
        entries.append(Entry(label: label, count: count))
    }
}

extension Counter: Sequence {
    func makeIterator() -> some IteratorProtocol<(label: Label, count: Int)> {
        entries.lazy.map { ($0.label, $0.count) }.makeIterator()
    }
}
