/// A dictionary of bounded size, in two generations: when the young one is full it becomes the old one, and what is in that
/// and is not asked for again goes with the next.
struct GenerationalCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generationSize: Int

    /// - Parameter generationSize: how many values a generation has at most.
    init(generationSize: Int) { self.generationSize = generationSize }

    /// How many values are kept, those counted twice that were asked for again.
    var count: Int { young.count + old.count }

    /// The value of a key, which is young again from now on.
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
