private import COpenSSL

/// AES-GCM (NIST SP 800-38D): an `EVP_CIPHER_CTX` that is reused. Confined to one thread.
@safe package final class AuthenticatedCipher {
    private let context: OpaquePointer
    private let algorithm: CipherAlgorithm
    package static let nonceLength = 12
    package static let tagLength = 16

    /// - Parameter size: of the key.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package init(_ size: AESKeySize = .bits256) throws(OpenSSLError) {
        algorithm = .gcm(size)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .drain() }
        unsafe self.context = context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts a plaintext, and authenticates it together with associated data.
    ///
    /// - Parameters:
    ///   - key: as long as the cipher's. Never use a nonce twice with the same key.
    ///   - nonce: 12 octets.
    /// - Returns: the ciphertext, which is as long as the plaintext, followed by the tag of 16 octets.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func seal(
        _ text: Span<UInt8>, under key: SecretBytes, nonce: Span<UInt8>, beside clear: Span<UInt8>
    ) throws(OpenSSLError) -> [UInt8] {
        try begin(key, nonce, encrypts: true)
        var sealed = [UInt8](repeating: 0, count: text.count + Self.tagLength)
        try add(clear)
        var length: CInt = 0
        try check(
            unsafe sealed.withUnsafeMutableBufferPointer { sealed in
                unsafe text.withUnsafeBufferPointer { text in
                    unsafe EVP_CipherUpdate(context, sealed.baseAddress, &length, text.baseAddress, CInt(text.count))
                }
            })
        try check(
            unsafe sealed.withUnsafeMutableBufferPointer { sealed in
                // GCM adds no further octets; the tag follows the ciphertext.
                var rest: CInt = 0
                let tag = unsafe sealed.baseAddress.map { unsafe $0 + text.count }
                guard unsafe EVP_CipherFinal_ex(context, tag, &rest) == 1, rest == 0 else { return 0 }
                return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CInt(Self.tagLength), tag)
            })
        return sealed
    }

    /// Decrypts the result of ``seal(_:under:nonce:beside:)``.
    ///
    /// - Returns: the plaintext; `nil` if it was not encrypted with this key, nonce and associated data, or was
    ///   modified.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func open(
        _ sealed: Span<UInt8>, under key: SecretBytes, nonce: Span<UInt8>, beside clear: Span<UInt8>
    ) throws(OpenSSLError) -> SecretBytes? {
        guard sealed.count >= Self.tagLength else { return nil }
        let count = sealed.count - Self.tagLength
        try begin(key, nonce, encrypts: false)
        var tag = (count..<sealed.count).map { sealed[$0] }
        try check(
            unsafe tag.withUnsafeMutableBytes {
                unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CInt(Self.tagLength), $0.baseAddress)
            })
        try add(clear)
        // The plaintext must not be used before the tag is verified.
        var text = [UInt8](repeating: 0, count: count)
        defer { wipe(&text) }
        var length: CInt = 0
        try check(
            unsafe text.withUnsafeMutableBufferPointer { text in
                unsafe sealed.withUnsafeBufferPointer { sealed in
                    unsafe EVP_CipherUpdate(context, text.baseAddress, &length, sealed.baseAddress, CInt(count))
                }
            })
        let isAuthentic = unsafe text.withUnsafeMutableBufferPointer { text in
            // GCM adds no further octets.
            var rest: CInt = 0
            return unsafe EVP_CipherFinal_ex(context, text.baseAddress, &rest) == 1
        }
        guard isAuthentic else {
            // A wrong tag leaves an entry in the thread's error queue, which must not be attributed to the next call.
            _ = OpenSSLError.drain()
            return nil
        }
        return try SecretBytes(text.span)
    }

    private func begin(_ key: SecretBytes, _ nonce: Span<UInt8>, encrypts: Bool) throws(OpenSSLError) {
        precondition(key.count == algorithm.keyLength && nonce.count == Self.nonceLength)
        try key.withBytes { key throws(OpenSSLError) in
            try check(
                unsafe key.withUnsafeBufferPointer { key in
                    unsafe nonce.withUnsafeBufferPointer { nonce in
                        unsafe EVP_CipherInit_ex2(
                            context, algorithm.pointer, key.baseAddress, nonce.baseAddress, encrypts ? 1 : 0,
                            nil)
                    }
                })
        }
    }

    private func add(_ clear: Span<UInt8>) throws(OpenSSLError) {
        var length: CInt = 0
        try check(
            unsafe clear.withUnsafeBufferPointer {
                unsafe EVP_CipherUpdate(context, nil, &length, $0.baseAddress, CInt($0.count))
            })
    }
}

@available(*, unavailable) extension AuthenticatedCipher: Sendable {}
