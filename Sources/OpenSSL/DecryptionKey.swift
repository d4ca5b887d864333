private import COpenSSL

/// A curve of key agreement, by `crv` of a JWK (RFC 7518, section 6.2.1.1; RFC 8037, section 2).
package enum AgreementCurve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"
    case x25519 = "X25519"

    /// The curve of NIST with the same name; `nil` for X25519.
    var nist: EllipticCurve? { EllipticCurve(rawValue: rawValue) }

    /// The length in octets of a coordinate, and of the agreed secret.
    package var coordinateLength: Int { nist?.coordinateLength ?? 32 }
}

/// The kind of a private key that decrypts.
package enum DecryptionKeyKind: Sendable, Equatable {
    case rsa(modulusLength: Int)
    case agreement(AgreementCurve)
}

/// A private key for messages that are encrypted to its public half: an `EVP_PKEY`, read from a file of the operator or
/// generated.
///
/// OpenSSL overwrites the private numbers when it frees the key.
// `@unchecked`: complete when `init` returns, never written to afterwards; OpenSSL counts its references atomically.
@safe package final class DecryptionKey: @unchecked Sendable {
    package let kind: DecryptionKeyKind
    let pointer: OpaquePointer

    /// The longest RSA key in bits: a private operation with a longer one would stop an event loop for too long.
    static let maximumRSABits = 3072

    /// Generates a key pair; the exponent of RSA keys is 65537.
    ///
    /// - Throws: ``OpenSSLError``, also for an RSA size that OpenSSL rejects.
    package init(generating kind: DecryptionKeyKind) throws(OpenSSLError) {
        self.kind = kind
        unsafe pointer =
            switch kind {
            case .rsa(let length): try unsafe generateKey("RSA", bits: length * 8)
            case .agreement(.x25519): try unsafe generateKey("X25519")
            case .agreement(let curve): try unsafe generateKey("EC", group: curve.rawValue)
            }
    }

    /// Reads a private key in PKCS#8 from PEM, and tests it.
    package init(pem: Span<UInt8>) throws(PrivateKeyError) {
        let key = try unsafe decodedPrivateKey(pem: pem)
        guard let kind = unsafe DecryptionKeyKind(of: key) else {
            unsafe EVP_PKEY_free(key)
            throw .otherEncryptionKind
        }
        self.kind = kind
        unsafe pointer = key
        if case .rsa = kind {
            let bits = unsafe Int(EVP_PKEY_get_bits(pointer))
            guard bits >= 2048 else { throw .tooSmall(bits: bits) }
            guard bits <= Self.maximumRSABits else { throw .tooLargeForEncryption(bits: bits) }
        }
        guard unsafe isConsistent(pointer) else { throw .inconsistent }
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// The public components as the bytes of a JWK: `n` and `e`; `x` and `y`; or `x` alone.
    package func publicComponents() throws(OpenSSLError) -> PublicComponents {
        switch kind {
        case .rsa: return try unsafe rsaComponents(of: pointer)
        case .agreement(let curve):
            guard let nist = curve.nist else { return [("x", try unsafe rawPublicKey(of: pointer, length: 32))] }
            return try unsafe ellipticCurveComponents(of: pointer, nist)
        }
    }
}

/// Whether the private and the public half of a key belong together.
private func isConsistent(_ key: OpaquePointer) -> Bool {
    defer { ERR_clear_error() }
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    return unsafe EVP_PKEY_pairwise_check(context) == 1
}

extension DecryptionKeyKind {
    /// `nil` for a kind that can't decrypt.
    fileprivate init?(of key: OpaquePointer) {
        defer { ERR_clear_error() }
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            self = .rsa(modulusLength: Int(unsafe EVP_PKEY_get_size(key)))
        } else if unsafe EVP_PKEY_is_a(key, "X25519") == 1 {
            self = .agreement(.x25519)
        } else {
            guard unsafe EVP_PKEY_is_a(key, "EC") == 1, let nist = unsafe EllipticCurve(of: key),
                let curve = AgreementCurve(rawValue: nist.rawValue)
            else { return nil }
            self = .agreement(curve)
        }
    }
}

/// RSA-OAEP (RFC 8017, section 7.1) with an empty label.
extension DecryptionKey {
    /// Decrypts a key that was encrypted with the public half of this RSA key.
    ///
    /// - Parameters:
    ///   - encrypted: as long as the modulus.
    ///   - digest: `nil` for SHA-1, which OAEP's security does not depend on.
    ///   - length: of the key; at most that of the modulus.
    /// - Returns: a key of the expected length; without meaning if it was not encrypted to this key.
    /// - Throws: ``OpenSSLError`` for a key of another kind.
    package func decrypt(
        _ encrypted: Span<UInt8>, oaep digest: DigestAlgorithm?, expecting length: Int
    ) throws(OpenSSLError) -> RecoveredKey {
        guard case .rsa(let modulusLength) = kind else { throw OpenSSLError(code: 0) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw .drain() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try check(unsafe EVP_PKEY_decrypt_init(context))
        try unsafe Self.pad(context, digest)
        var isRight = false
        let output = try unsafe SecretBytes(capacity: modulusLength) { output in
            var written = modulusLength
            isRight = unsafe encrypted.withUnsafeBufferPointer {
                unsafe EVP_PKEY_decrypt(context, output.baseAddress, &written, $0.baseAddress, $0.count) == 1
            }
            isRight = isRight && written == length
            return length
        }
        ERR_clear_error()
        return RecoveredKey(octets: output, isRight: isRight)
    }

    /// Encrypts a key with the public half of this RSA key.
    ///
    /// - Parameter digest: `nil` for SHA-1.
    /// - Returns: as many octets as the modulus has.
    /// - Throws: ``OpenSSLError`` for a key of another kind.
    package func encrypt(_ octets: SecretBytes, oaep digest: DigestAlgorithm?) throws(OpenSSLError) -> [UInt8] {
        guard case .rsa(let modulusLength) = kind else { throw OpenSSLError(code: 0) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw .drain() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try check(unsafe EVP_PKEY_encrypt_init(context))
        try unsafe Self.pad(context, digest)
        var output = [UInt8](repeating: 0, count: modulusLength)
        var written = modulusLength
        try check(
            octets.withBytes { octets in
                unsafe output.withUnsafeMutableBufferPointer { output in
                    unsafe octets.withUnsafeBufferPointer {
                        unsafe EVP_PKEY_encrypt(context, output.baseAddress, &written, $0.baseAddress, $0.count)
                    }
                }
            })
        return output
    }

    /// - Parameter context: of an operation that has begun.
    private static func pad(_ context: OpaquePointer, _ digest: DigestAlgorithm?) throws(OpenSSLError) {
        let name = digest.map { "\($0.name)" } ?? "SHA1"
        try check(unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING))
        try check(unsafe EVP_PKEY_CTX_set_rsa_oaep_md_name(context, name, nil))
        try check(unsafe EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, name, nil))
    }
}

/// Elliptic-curve Diffie-Hellman.
extension DecryptionKey {
    /// The secret that this key shares with the owner of a point (NIST SP 800-56A, section 5.7.1.2; RFC 7748, section
    /// 6.1).
    ///
    /// - Parameter point: `nil` for a point that is no key on this key's curve. The agreement is made with this key's own
    ///   public half then, and is worth nothing.
    /// - Returns: as many octets as a coordinate has; without meaning if there was no point, or one of small order.
    /// - Throws: ``OpenSSLError`` for a key of another kind.
    package func agree(with point: AgreementPoint?) throws(OpenSSLError) -> RecoveredKey {
        guard case .agreement(let curve) = kind else { throw OpenSSLError(code: 0) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw .drain() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try check(unsafe EVP_PKEY_derive_init(context))
        let isPoint = point?.curve == curve
        let peer = unsafe isPoint ? point?.pointer : pointer
        // The point is on the curve, or it would not have been read. OpenSSL's own check multiplies it by the order, which
        // proves nothing more on curves of prime order, and costs as much as the agreement.
        try check(unsafe EVP_PKEY_derive_set_peer_ex(context, peer, 0))
        let length = curve.coordinateLength
        var isAgreed = false
        let output = try unsafe SecretBytes(capacity: length) { output in
            var written = length
            // X25519 refuses points of small order here.
            isAgreed = unsafe EVP_PKEY_derive(context, output.baseAddress, &written) == 1 && written == length
            return length
        }
        ERR_clear_error()
        return RecoveredKey(octets: output, isRight: isAgreed && isPoint)
    }
}

/// A public key of another party, on a curve of key agreement: an `EVP_PKEY`.
@safe package final class AgreementPoint {
    package let curve: AgreementCurve
    fileprivate let pointer: OpaquePointer

    /// A key on each NIST curve, which lends its parameters: to make them took 140,000 instructions for each point.
    private static let templates = Dictionary(
        uniqueKeysWithValues: AgreementCurve.allCases.filter { $0.nist != nil }.compactMap { curve in
            (try? DecryptionKey(generating: .agreement(curve))).map { (curve, $0) }
        })

    /// Reads a point by its coordinates at full length, and checks that it is on the curve.
    ///
    /// - Parameter y: `nil` on X25519 alone.
    /// - Returns: `nil` for anything else.
    package init?(_ curve: AgreementCurve, x: [UInt8], y: [UInt8]?) {
        defer { ERR_clear_error() }
        guard x.count == curve.coordinateLength else { return nil }
        self.curve = curve
        if curve.nist != nil {
            // One that could not be made at first, for lack of memory, is made now.
            guard let y, y.count == x.count,
                let template = Self.templates[curve] ?? (try? DecryptionKey(generating: .agreement(curve))),
                let made = unsafe EVP_PKEY_new()
            else { return nil }
            let point = [0x04] + x + y
            // OpenSSL reads only coordinates in range of a point on the curve. It can't be the one at infinity, which is
            // written without coordinates, and the NIST curves have no other points of their group.
            guard
                unsafe EVP_PKEY_copy_parameters(made, template.pointer) == 1
                    && EVP_PKEY_set1_encoded_public_key(made, point, point.count) == 1
            else {
                unsafe EVP_PKEY_free(made)
                // Its entries in the thread's error queue must not be attributed to the next call.
                ERR_clear_error()
                return nil
            }
            unsafe pointer = made
        } else {
            guard y == nil,
                let made = unsafe EVP_PKEY_new_raw_public_key_ex(nil, curve.rawValue, nil, x, x.count)
            else { return nil }
            unsafe pointer = made
        }
    }

    deinit { unsafe EVP_PKEY_free(pointer) }
}
