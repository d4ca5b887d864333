/// Caches valid signatures, so that the signature of a repeated token is not checked again.
///
/// A cached fact never changes: this key made this signature of this digest, with this scheme. Claims, expiry and
/// identity are not cached and are checked each time; a key that is no longer in use is never looked up. Only valid
/// signatures are inserted, so that forged ones can't evict them.
///
/// A class, so that a cache without capacity costs only a look at its capacity: a struct in a variable would need an
/// exclusivity check for each call.
final class SignatureCache {
    private let capacity: Int
    /// The digest followed by the signature.
    private var known: GenerationalCache<Name, [UInt8]>

    private struct Name: Hashable {
        let key: PublicKey.Serial
        let scheme: SignatureScheme
        /// The offset at which the digest ends and the signature begins.
        let digestLength: Int
        /// The first eight bytes of a digest: enough for the lookup, which then compares all bytes.
        let digest: UInt64
    }

    /// - Parameter capacity: the most signatures to remember; 0 turns the cache off.
    init(capacity: Int) {
        self.capacity = capacity
        known = GenerationalCache(generationSize: (capacity + 1) / 2)
    }

    /// The number of remembered signatures; one that was looked up again may count twice.
    var count: Int { known.count }

    /// Whether a signature of a digest is known to be valid.
    func contains(
        _ signature: Span<UInt8>, of digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme
    ) -> Bool {
        guard capacity > 0, let both = known.value(for: name(digest, key, scheme)) else { return false }
        return both.count == digest.count + signature.count
            && constantTimeEquals(both.span.extracting(..<digest.count), digest)
            && constantTimeEquals(both.span.extracting(digest.count...), signature)
    }

    /// Inserts a valid signature.
    func insert(_ signature: Span<UInt8>, of digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme) {
        guard capacity > 0 else { return }
        let both = [UInt8](capacity: digest.count + signature.count) { output in
            for index in digest.indices { output.append(digest[index]) }
            for index in signature.indices { output.append(signature[index]) }
        }
        known.insert(both, for: name(digest, key, scheme))
    }

    private func name(_ digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme) -> Name {
        var start: UInt64 = 0
        for index in 0..<8 { start = start << 8 | UInt64(digest[index]) }
        return Name(key: key.serial, scheme: scheme, digestLength: digest.count, digest: start)
    }
}

/// A dictionary of bounded size with two generations. When the young generation is full, it becomes the old one, and
/// the previous old one is dropped. A value that is looked up moves to the young generation.
package struct GenerationalCache<Key: Hashable, Value> {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let generationSize: Int

    /// - Parameter generationSize: the most values in a generation.
    package init(generationSize: Int) { self.generationSize = generationSize }

    /// The number of values; a value that was looked up again may count twice.
    var count: Int { young.count + old.count }

    /// The value of a key, which moves to the young generation.
    package mutating func value(for key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        insert(value, for: key)
        return value
    }

    package mutating func insert(_ value: Value, for key: Key) {
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
