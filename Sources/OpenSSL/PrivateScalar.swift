private import COpenSSL

/// The private number of a key on P-256: all of the key, and short enough for a sealed text.
extension SigningKey {
    /// In octets.
    package static let scalarLength = 32

    /// PKCS#8 (RFC 5958) around an `ECPrivateKey` (RFC 5915) on P-256 without its public half, up to the number.
    private static let scalarPrefix: [UInt8] = [
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ]

    /// The private number, big-endian.
    ///
    /// - Throws: ``OpenSSLError``, also for a key that is not on P-256.
    package func scalar() throws(OpenSSLError) -> SecretBytes {
        guard case .ellipticCurve(.p256) = kind else { throw .unspecified }
        var number: OpaquePointer?
        try check(unsafe EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number))
        defer { unsafe BN_clear_free(number) }
        return try unsafe SecretBytes(capacity: Self.scalarLength) { output throws(OpenSSLError) in
            let length = CInt(Self.scalarLength)
            guard unsafe BN_bn2binpad(number, output.baseAddress, length) == length else { throw .drain() }
            return Self.scalarLength
        }
    }

    /// A key on P-256 by the number that ``scalar()`` returned; OpenSSL computes the public half.
    ///
    /// - Throws: ``OpenSSLError``, also for octets that are no such number.
    package convenience init(scalar: SecretBytes) throws(OpenSSLError) {
        guard scalar.count == Self.scalarLength else { throw .unspecified }
        var der: [UInt8] = []
        // Reserved at once, because a reallocation would leave a copy of the key in memory.
        der.reserveCapacity(Self.scalarPrefix.count + scalar.count)
        defer { wipe(&der) }
        der += Self.scalarPrefix
        scalar.withBytes { for index in $0.indices { der.append($0[index]) } }
        guard let key = unsafe decodedPrivateKey(der: der) else { throw .unspecified }
        unsafe self.init(takingOwnershipOf: key, kind: .ellipticCurve(.p256))
    }
}
