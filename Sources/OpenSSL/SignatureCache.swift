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
    /// Digest and signature, one behind the other.
    private var known: GenerationalCache<Name, [UInt8]>

    private struct Name: Hashable {
        let key: PublicKey.Serial
        let scheme: SignatureScheme
        /// Where the digest ends and the signature begins.
        let digestLength: Int
        /// A digest's first eight octets: enough to find what is then compared whole.
        let digest: UInt64
    }

    /// - Parameter capacity: how many signatures are remembered at most; 0: none.
    init(capacity: Int) {
        self.capacity = capacity
        known = GenerationalCache(generationSize: (capacity + 1) / 2)
    }

    /// How many signatures are remembered, those counted twice that were asked for again.
    var count: Int { known.count }

    /// Whether a signature of a digest was found valid before.
    func contains(
        _ signature: Span<UInt8>, of digest: Span<UInt8>, _ key: PublicKey, _ scheme: SignatureScheme
    ) -> Bool {
        guard capacity > 0, let both = known.value(for: name(digest, key, scheme)) else { return false }
        return both.count == digest.count + signature.count
            && constantTimeEquals(both.span.extracting(..<digest.count), digest)
            && constantTimeEquals(both.span.extracting(digest.count...), signature)
    }

    /// Remembers a signature that is valid.
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
