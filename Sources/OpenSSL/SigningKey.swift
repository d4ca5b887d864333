private import COpenSSL

/// A private key: an `EVP_PKEY`, read from a file of the operator or generated.
///
/// OpenSSL overwrites the private numbers when it frees the key.
// `@unchecked`: complete when `init` returns, never written to afterwards; OpenSSL counts its references atomically.
@safe package final class SigningKey: @unchecked Sendable {
    package let kind: PublicKeyKind
    let pointer: OpaquePointer

    /// Generates a key pair; the exponent of RSA keys is 65537.
    ///
    /// - Throws: ``OpenSSLError``, also for an RSA size that OpenSSL rejects.
    package init(generating kind: PublicKeyKind) throws(OpenSSLError) {
        let type =
            switch kind {
            case .rsa: "RSA"
            case .ellipticCurve: "EC"
            case .edwards(let curve): curve.rawValue
            }
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, type, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try check(unsafe EVP_PKEY_keygen_init(context))
        switch kind {
        case .rsa(let modulusLength):
            try check(unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(modulusLength * 8)))
        case .ellipticCurve(let curve):
            try check(unsafe EVP_PKEY_CTX_set_group_name(context, curve.rawValue))
        case .edwards: break
        }
        var key: OpaquePointer?
        try check(unsafe EVP_PKEY_generate(context, &key))
        guard let key = unsafe key else { throw .drain() }
        self.kind = kind
        unsafe pointer = key
    }

    init(takingOwnershipOf pointer: OpaquePointer, kind: PublicKeyKind) {
        self.kind = kind
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Signs `message`; ECDSA signatures are r ‖ s.
    ///
    /// - Throws: ``OpenSSLError`` if the scheme does not fit the key.
    package func sign(_ message: [UInt8], _ scheme: SignatureScheme) throws(OpenSSLError) -> [UInt8] {
        guard scheme.fits(kind) else { throw OpenSSLError(code: 0) }
        guard let context = unsafe EVP_MD_CTX_new() else { throw .drain() }
        defer { unsafe EVP_MD_CTX_free(context) }
        var keyContext: OpaquePointer?
        let digest = scheme.digest.map { "\($0.name)" }
        try check(unsafe EVP_DigestSignInit_ex(context, &keyContext, digest, nil, nil, pointer, nil))
        if case .rsaPSS = scheme {
            try check(unsafe EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING))
            try check(unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST))
        }
        var length = 0
        try check(unsafe EVP_DigestSign(context, nil, &length, message, message.count))
        var signature = [UInt8](repeating: 0, count: length)
        try check(unsafe EVP_DigestSign(context, &signature, &length, message, message.count))
        signature.removeSubrange(length...)
        guard case .ecdsa(let curve) = scheme else { return signature }
        return fixedLengthSignature(fromDER: signature, coordinateLength: curve.coordinateLength)
    }

    /// The public components as the bytes of a JWK: `n` and `e`; `x` and `y`; or `x` alone.
    ///
    /// - Throws: ``OpenSSLError``.
    package func publicComponents() throws(OpenSSLError) -> PublicComponents {
        switch kind {
        case .rsa: try unsafe rsaComponents(of: pointer)
        case .ellipticCurve(let curve): try unsafe ellipticCurveComponents(of: pointer, curve)
        case .edwards(let curve):
            [("x", try rawPublicKey(length: curve.publicKeyLength))]
        }
    }

    private func rawPublicKey(length: Int) throws(OpenSSLError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: length)
        var count = length
        try check(unsafe EVP_PKEY_get_raw_public_key(pointer, &octets, &count))
        return octets
    }
}

/// Reads the two integers of a DER `SEQUENCE` that OpenSSL wrote, each at full length.
private func fixedLengthSignature(fromDER der: [UInt8], coordinateLength: Int) -> [UInt8] {
    var position = der[1] == 0x81 ? 3 : 2
    var output: [UInt8] = []
    for _ in 0..<2 {
        let length = Int(der[position + 1])
        let digits = der[(position + 2)..<(position + 2 + length)].drop { $0 == 0 }
        output += [UInt8](repeating: 0, count: coordinateLength - digits.count) + digits
        position += 2 + length
    }
    return output
}
