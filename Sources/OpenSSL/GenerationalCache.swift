/// A dictionary of bounded size with two generations. When the young generation is full, it becomes the old one, and
/// the previous old one is dropped. A value that is looked up moves to the young generation.
struct GenerationalCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generationSize: Int

    /// - Parameter generationSize: the most values in a generation.
    init(generationSize: Int) { self.generationSize = generationSize }

    /// The number of values; a value that was looked up again may count twice.
    var count: Int { young.count + old.count }

    /// The value of a key, which moves to the young generation.
    mutating func value(for key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        insert(value, for: key)
        return value
    }

    mutating func insert(_ value: Value, for key: Key) {
        if young.count >= generationSize {
            swap(&old, &young)
            young.removeAll(keepingCapacity: true)
        }
        young[key] = value
    }

    mutating func removeAll(where isDropped: (Value) -> Bool) {
        young = young.filter { !isDropped($0.value) }
        old = old.filter { !isDropped($0.value) }
    }
}
