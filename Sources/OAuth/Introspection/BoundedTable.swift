/// A table that forgets its oldest entries when it is full.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The maximum number of entries.
    var capacity: Int { didSet { makeRoom() } }
    /// The maximum total size of the entries.
    private var maximumSize: Int { capacity * Self.meanSize }
    private var entries: [Key: Entry] = [:]
    /// In the order of their insertion; also of entries that are gone or were replaced since.
    private(set) var order: [(key: Key, number: Int)] = []
    /// The index of the oldest entry in ``order``.
    private var first = 0
    private var next = 0
    private var size = 0

    private struct Entry {
        let value: Value
        let size: Int
        let number: Int
    }

    /// In bytes. Larger entries make room for fewer.
    static var meanSize: Int { 4096 }

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { entries.count }

    subscript(key: Key) -> Value? { entries[key]?.value }

    /// - Parameter size: in bytes.
    mutating func insert(_ value: Value, for key: Key, size: Int = 0) {
        remove(key)
        entries[key] = Entry(value: value, size: size, number: next)
        order.append((key, next))
        next += 1
        self.size += size
        makeRoom()
    }

    mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        size -= entry.size
        // What is gone stays in the order until then, so that a removal costs nothing.
        if order.count > 2 * entries.count + Self.slack { compact() }
    }

    /// Removes entries, oldest first, up to the first one that must stay.
    mutating func removeOldest(while isOver: (Value) -> Bool) {
        while let oldest, isOver(oldest.entry.value) { remove(oldest.key) }
    }

    private mutating func makeRoom() {
        while entries.count > capacity || size > maximumSize, let oldest { remove(oldest.key) }
    }

    static var slack: Int { 64 }

    private var oldest: (key: Key, entry: Entry)? {
        mutating get {
            while first < order.count {
                let (key, number) = order[first]
                if let entry = entries[key], entry.number == number { return (key, entry) }
                first += 1
            }
            return nil
        }
    }

    private mutating func compact() {
        order = order[first...].filter { entries[$0.key]?.number == $0.number }
        first = 0
    }
}
