private import COpenSSL

/// Checks signatures on one thread, and reuses OpenSSL's contexts.
///
/// Not `Sendable`: an `EVP_PKEY_CTX` belongs to one thread. Each thread has its own checker, and each checker its own
/// OpenSSL key, so that threads share no reference counts and no locks.
package final class SignatureChecker {
    private let digestContext: DigestContext
    private let cache: SignatureCache
    /// The context that was used last, which nearly every token needs again: a lookup takes 350 instructions.
    private var latest: (name: ContextName, context: VerifyContext)?
    private var contexts = GenerationalCache<ContextName, VerifyContext>(
        generationSize: SignatureChecker.maximumContexts)

    /// Those of keys that came with messages.
    private var curveContexts: [SignatureScheme: VerifyContext] = [:]

    private struct ContextName: Hashable {
        let key: PublicKey.Serial
        let scheme: SignatureScheme
    }

    /// A bound on memory, not a tuning parameter: a context takes about 4 KB. With more keys in use than this, creating
    /// a context costs a quarter of a signature check.
    private static let maximumContexts = 10_240
    private static let minimumSweep = 8
    /// At this number of contexts, those whose keys are gone are removed before one is added.
    private var sweepAt = SignatureChecker.minimumSweep

    /// - Parameter signatureCacheCapacity: the number of valid signatures to remember, so that none is checked twice.
    package init(signatureCacheCapacity: Int = 0) throws(OpenSSLError) {
        digestContext = try DigestContext()
        cache = SignatureCache(capacity: signatureCacheCapacity)
    }

    /// Whether `signature` is a signature of `message` by the private key that belongs to `key`.
    ///
    /// `false` for a signature of the wrong length, and for a key of a kind other than the scheme needs.
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails, which no input can cause.
    package func isValid(
        _ signature: Span<UInt8>, of message: Span<UInt8>, by key: PublicKey, _ scheme: SignatureScheme
    ) throws(OpenSSLError) -> Bool {
        guard scheme.fits(key.kind), signature.count == key.kind.signatureLength else { return false }
        // EdDSA signs the whole message; its digest is only the key of the cache.
        let algorithm = scheme.digest ?? .sha512
        var digest = DigestContext.Output(repeating: 0)
        try digestContext.write(digestOf: message, algorithm, into: &digest)
        let hash = digest.span.extracting(..<algorithm.outputLength)
        if cache.contains(signature, of: hash, key, scheme) { return true }
        let isValid =
            switch scheme {
            case .rsaPKCS1, .rsaPSS: try context(for: key, scheme).isValid(signature, ofDigest: hash)
            case .ecdsa:
                try context(for: key, scheme).isValid(
                    derSignature(fromFixedLength: signature).span, ofDigest: hash)
            case .edwards: try context(for: key, scheme).isValidEdwards(signature, of: message)
            }
        if isValid { cache.insert(signature, of: hash, key, scheme) }
        return isValid
    }

    /// Whether the private key that belongs to a key which came with the message has signed it. Neither the key nor the
    /// signature is kept.
    ///
    /// - Throws: ``OpenSSLError`` if OpenSSL fails, which no input can cause.
    package func verdict(
        on signature: Span<UInt8>, of message: Span<UInt8>, byUnfamiliar key: KeyMaterial, _ scheme: SignatureScheme
    ) throws(OpenSSLError) -> UnfamiliarVerdict {
        guard scheme.fits(key.kind) else { return .invalid }
        guard let context = try context(ofUnfamiliar: key, scheme) else { return .keyMalformed }
        guard signature.count == key.kind.signatureLength else { return .invalid }
        guard let algorithm = scheme.digest else {
            return try context.isValidEdwards(signature, of: message) ? .valid : .invalid
        }
        let isValid = try withDigest(of: message, algorithm) { hash in
            guard case .ecdsa = scheme else { return context.isValid(signature, ofDigest: hash) }
            return context.isValid(derSignature(fromFixedLength: signature).span, ofDigest: hash)
        }
        return isValid ? .valid : .invalid
    }

    /// A context for a key that came with a message; `nil` if the key is malformed.
    ///
    /// On a NIST curve, each key is a new point in the same context, which takes 13,000 instructions. To make a key and a
    /// context takes 240,000, more than a quarter of a signature check.
    private func context(
        ofUnfamiliar key: KeyMaterial, _ scheme: SignatureScheme
    ) throws(OpenSSLError) -> VerifyContext? {
        let context: VerifyContext
        if let known = curveContexts[scheme] {
            context = known
        } else {
            guard let made = try? unsafe key.makeKey() else { return nil }
            context = try unsafe VerifyContext(takingOwnershipOf: made, scheme)
            if key.point != nil { curveContexts[scheme] = context }
        }
        return key.point.map(context.take) ?? true ? context : nil
    }

    /// Calls `body` with the digest of `bytes`, which is on the stack: an array would be an allocation.
    package func withDigest<Result>(
        of bytes: Span<UInt8>, _ algorithm: DigestAlgorithm, _ body: (Span<UInt8>) -> Result
    ) throws(OpenSSLError) -> Result {
        var digest = DigestContext.Output(repeating: 0)
        try digestContext.write(digestOf: bytes, algorithm, into: &digest)
        return body(digest.span.extracting(..<algorithm.outputLength))
    }

    private func context(for key: PublicKey, _ scheme: SignatureScheme) throws(OpenSSLError) -> VerifyContext {
        let name = ContextName(key: key.serial, scheme: scheme)
        if let latest, latest.name == name { return latest.context }
        let context = try storedContext(name, key)
        latest = (name, context)
        return context
    }

    private func storedContext(_ name: ContextName, _ key: PublicKey) throws(OpenSSLError) -> VerifyContext {
        if let context = contexts.value(for: name) { return context }
        let context = try unsafe VerifyContext(takingOwnershipOf: key.makeKey(), name.scheme, keyOwner: key.sharedOwner)
        // Providers rotate their keys during the life of the process. The sweep runs each time that the number of
        // contexts has doubled, so that its cost per added context is a few lookups.
        if contexts.count >= sweepAt {
            contexts.removeAll { !$0.hasKey }
            sweepAt = max(2 * contexts.count, Self.minimumSweep)
        }
        contexts.insert(context, for: name)
        return context
    }

    /// The number of contexts.
    package var contextCount: Int { contexts.count }
}

/// An `EVP_PKEY_CTX` for one key and one scheme, reused for each signature; for EdDSA, the `EVP_PKEY`.
@safe private final class VerifyContext {
    private let pointer: OpaquePointer?
    private let edwardsKey: OpaquePointer?
    private weak var keyOwner: AnyObject?

    /// Whether the key with which this verifies still exists.
    var hasKey: Bool { keyOwner != nil }

    /// - Parameters:
    ///   - own: an `EVP_PKEY`.
    ///   - keyOwner: what lives as long as the key is in use.
    init(
        takingOwnershipOf own: OpaquePointer, _ scheme: SignatureScheme, keyOwner: AnyObject? = nil
    ) throws(OpenSSLError) {
        self.keyOwner = keyOwner
        if case .edwards = scheme {
            unsafe (pointer, edwardsKey) = (nil, own)
            return
        }
        // The context retains the key itself.
        defer { unsafe EVP_PKEY_free(own) }
        guard let pointer = unsafe EVP_PKEY_CTX_new_from_pkey(nil, own, nil) else { throw .drain() }
        unsafe (self.pointer, edwardsKey) = (pointer, nil)
        try check(unsafe EVP_PKEY_verify_init(pointer))
        if let digest = scheme.digest {
            switch scheme {
            case .rsaPKCS1:
                try check(unsafe EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PADDING))
            case .rsaPSS:
                try check(unsafe EVP_PKEY_CTX_set_rsa_padding(pointer, RSA_PKCS1_PSS_PADDING))
                try check(unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(pointer, CInt(digest.outputLength)))
            case .ecdsa, .edwards: break
            }
            try check(unsafe EVP_PKEY_CTX_set_signature_md(pointer, digest.pointer))
        }
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(pointer)
        unsafe EVP_PKEY_free(edwardsKey)
    }

    /// Replaces the point of a key on a NIST curve.
    ///
    /// - Returns: whether it may be used. OpenSSL refuses a coordinate that is out of range, and a point that is not on
    ///   the curve; the point at infinity has no coordinates. Those are all checks that these curves need: see
    ///   ``PublicKey``.
    func take(_ point: [UInt8]) -> Bool {
        let isTaken = unsafe EVP_PKEY_set1_encoded_public_key(EVP_PKEY_CTX_get0_pkey(pointer), point, point.count) == 1
        if !isTaken { ERR_clear_error() }
        return isTaken
    }

    func isValid(_ signature: Span<UInt8>, ofDigest digest: Span<UInt8>) -> Bool {
        let result = unsafe signature.withUnsafeBufferPointer { signature in
            unsafe digest.withUnsafeBufferPointer { digest in
                unsafe EVP_PKEY_verify(
                    pointer, signature.baseAddress, signature.count, digest.baseAddress, digest.count)
            }
        }
        // Only 1 means valid. Other results may be 0 or negative, and leave entries in the queue.
        if result != 1 { ERR_clear_error() }
        return result == 1
    }

    /// EdDSA signs the whole message, which needs a new `EVP_MD_CTX` for each call.
    func isValidEdwards(_ signature: Span<UInt8>, of message: Span<UInt8>) throws(OpenSSLError) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .drain() }
        defer { unsafe EVP_MD_CTX_free(context) }
        try check(unsafe EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, edwardsKey, nil))
        let result = unsafe signature.withUnsafeBufferPointer { signature in
            unsafe message.withUnsafeBufferPointer { message in
                unsafe EVP_DigestVerify(
                    context, signature.baseAddress, signature.count, message.baseAddress, message.count)
            }
        }
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}

/// What is known about a message and a key that came with it.
package enum UnfamiliarVerdict: Sendable {
    case valid
    /// The signature is not by this key.
    case invalid
    /// The key's point is not on its curve.
    case keyMalformed
}

/// Converts r ‖ s to the DER `SEQUENCE` of two `INTEGER`s that OpenSSL reads. OpenSSL rejects values out of range.
private func derSignature(fromFixedLength signature: Span<UInt8>) -> [UInt8] {
    let r = DERInteger(signature, in: 0..<(signature.count / 2))
    let s = DERInteger(signature, in: (signature.count / 2)..<signature.count)
    let length = 4 + r.length + s.length
    return [UInt8](capacity: length + 3) { output in
        output.append(0x30)
        // P-521 needs the long form: 2 × (2 + 67) bytes are more than 127.
        if length > 127 { output.append(0x81) }
        output.append(UInt8(length))
        for integer in [r, s] {
            output.append(0x02)
            output.append(UInt8(integer.length))
            if integer.needsSignOctet { output.append(0) }
            for index in integer.octets { output.append(signature[index]) }
        }
    }
}

/// A big-endian number in the form of a DER `INTEGER`: without leading zeros, except for one if the number would
/// otherwise be negative.
private struct DERInteger {
    let octets: Range<Int>
    let needsSignOctet: Bool
    var length: Int { octets.count + (needsSignOctet ? 1 : 0) }

    init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        var first = range.lowerBound
        while first < range.upperBound - 1, bytes[first] == 0 { first += 1 }
        octets = first..<range.upperBound
        needsSignOctet = bytes[first] >> 7 == 1
    }
}

/// A digital signature scheme: a JOSE algorithm without its name.
package enum SignatureScheme: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2).
    case rsaPKCS1(DigestLength)
    /// RSASSA-PSS with MGF1 over the same hash function, and a salt as long as its output (RFC 7518, section 3.5).
    case rsaPSS(DigestLength)
    /// ECDSA with signatures in the form r ‖ s, both at the curve's full length (RFC 7518, section 3.4).
    case ecdsa(EllipticCurve)
    /// EdDSA over the message itself (RFC 8032).
    case edwards(EdwardsCurve)

    /// A scheme's SHA-2 function, by its output in bits.
    package enum DigestLength: Sendable { case bits256, bits384, bits512 }

    /// The digest that is signed; `nil` if the scheme signs the whole message.
    package var digest: DigestAlgorithm? {
        switch self {
        case .rsaPKCS1(let length), .rsaPSS(let length): length.algorithm
        case .ecdsa(.p256): .sha256
        case .ecdsa(.p384): .sha384
        case .ecdsa(.p521): .sha512
        case .edwards: nil
        }
    }

    /// Whether a key of this kind can verify signatures of this scheme.
    package func fits(_ kind: PublicKeyKind) -> Bool {
        switch (self, kind) {
        case (.rsaPKCS1, .rsa), (.rsaPSS, .rsa): true
        case (.ecdsa(let own), .ellipticCurve(let other)): own == other
        case (.edwards(let own), .edwards(let other)): own == other
        default: false
        }
    }
}

extension SignatureScheme.DigestLength {
    var algorithm: DigestAlgorithm {
        switch self {
        case .bits256: .sha256
        case .bits384: .sha384
        case .bits512: .sha512
        }
    }
}

extension PublicKeyKind {
    /// The length in bytes of a signature by a key of this kind.
    package var signatureLength: Int {
        switch self {
        case .rsa(let modulusLength): modulusLength
        case .ellipticCurve(let curve): 2 * curve.coordinateLength
        case .edwards(let curve): curve.signatureLength
        }
    }
}
