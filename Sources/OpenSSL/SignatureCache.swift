/// Signatures that were found valid, so that a token which is shown again need not have its signature checked again.
///
/// What is remembered is a fact that never changes: this key, by this scheme, made this signature of this digest. What a
/// token says, whether it has expired and whose it is are no part of it and are checked each time; a key that is no longer
/// used is not asked for. Only valid signatures get in, so that junk can't push them out.
///
/// A class, so that one which remembers nothing costs a look at its capacity: a variable of whoever has it would be guarded
/// against a second access while it is asked.
final class SignatureCache {
    private let capacity: Int
    /// Digest and signature, one behind the other. When half of the capacity is full, that half grows old, and what is in it
    /// and is not asked for again goes with the next.
    private var young: [Name: [UInt8]] = [:]
    private var old: [Name: [UInt8]] = [:]

    private struct Name: Hashable {
        let key: PublicKey.Serial
        let scheme: SignatureScheme
        /// Where the digest ends and the signature begins.
        let digestLength: Int
        /// A digest's first eight octets: enough to find what is then compared whole.
        let digest: UInt64
    }

    /// - Parameter capacity: how many signatures are remembered at most; 0: none.
    init(capacity: Int) { self.capacity = capacity }

    /// How many signatures are remembered, those counted twice that were asked for again.
    var count: Int { young.count + old.count }

    /// Whether a signature of a digest was found valid before.
    func contains(
        _ signature: Span<UInt8>, of digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme
    ) -> Bool {
        guard capacity > 0 else { return false }
        let name = name(digest, key, scheme)
        if let known = young[name] { return isSame(known, digest, signature) }
        guard let known = old[name], isSame(known, digest, signature) else { return false }
        insert(known, name)
        return true
    }

    /// Remembers a signature that is valid.
    func insert(_ signature: Span<UInt8>, of digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme) {
        guard capacity > 0 else { return }
        let both = [UInt8](capacity: digest.count + signature.count) { output in
            for index in digest.indices { output.append(digest[index]) }
            for index in signature.indices { output.append(signature[index]) }
        }
        insert(both, name(digest, key, scheme))
    }

    private func insert(_ both: [UInt8], _ name: Name) {
        if young.count >= (capacity + 1) / 2 {
            swap(&old, &young)
            young.removeAll(keepingCapacity: true)
        }
        young[name] = both
    }

    private func name(_ digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme) -> Name {
        var start: UInt64 = 0
        for index in 0..<8 { start = start << 8 | UInt64(digest[index]) }
        return Name(key: key.serial, scheme: scheme, digestLength: digest.count, digest: start)
    }

    private func isSame(_ known: [UInt8], _ digest: Span<UInt8>, _ signature: Span<UInt8>) -> Bool {
        let known = known.span
        return known.count == digest.count + signature.count
            && constantTimeEquals(known.extracting(..<digest.count), digest)
            && constantTimeEquals(known.extracting(digest.count...), signature)
    }
}
