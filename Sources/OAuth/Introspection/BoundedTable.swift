/// A table that forgets its oldest entries when it is full.
struct BoundedTable<Key: Hashable, Value> {
    /// The maximum number of entries.
    var capacity: Int { didSet { makeRoom() } }
    private let meanSize: Int
    /// The maximum total size of the entries.
    private var maximumSize: Int { capacity * meanSize }
    private var entries: [Key: Entry] = [:]
    /// In the order of their insertion; also of entries that are gone or were replaced since.
    private(set) var order: [(key: Key, number: Int)] = []
    /// The index of the oldest entry in ``order``.
    private var first = 0
    private var next = 0
    private var size = 0

    fileprivate struct Entry {
        let value: Value
        let size: Int
        let number: Int
    }

    /// - Parameter meanSize: in bytes; entries that are larger on average make room for fewer.
    init(capacity: Int, meanSize: Int = 4096) {
        self.capacity = capacity
        self.meanSize = meanSize
    }

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

extension BoundedTable: Sendable where Key: Sendable, Value: Sendable {}
extension BoundedTable.Entry: Sendable where Value: Sendable {}
