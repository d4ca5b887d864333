private import COpenSSL

/// AES without authentication, for one text under one key: an `EVP_CIPHER_CTX`. Confined to one thread.
@safe package final class BlockCipher {
    private let context: OpaquePointer

    /// A block, and the initialization vector, in octets.
    package static let blockLength = 16

    /// - Throws: ``OpenSSLError`` when out of memory.
    private init(
        _ algorithm: CipherAlgorithm, _ key: SecretBytes, _ vector: UnsafePointer<UInt8>?, encrypts: Bool
    ) throws(OpenSSLError) {
        precondition(key.count == algorithm.keyLength)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .drain() }
        unsafe self.context = context
        // Without it, OpenSSL refuses to wrap keys; it means nothing to other modes.
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        try key.withBytes { key throws(OpenSSLError) in
            try check(
                unsafe key.withUnsafeBufferPointer {
                    unsafe EVP_CipherInit_ex2(
                        context, algorithm.pointer, $0.baseAddress, vector, encrypts ? 1 : 0, nil)
                })
        }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Decrypts AES-CBC. Verify the code of the text first: an answer that depends on the padding would reveal the
    /// text.
    ///
    /// - Parameter vector: 16 octets.
    /// - Returns: `nil` if the length or the padding is wrong.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package static func decrypt(
        _ text: Span<UInt8>, _ size: AESKeySize, _ key: SecretBytes, vector: Span<UInt8>
    ) throws(OpenSSLError) -> SecretBytes? {
        let (output, isRight) = try chaining(size, key, vector, encrypts: false).update(
            text, room: text.count + blockLength)
        return isRight ? output : nil
    }

    /// Encrypts with AES-CBC.
    ///
    /// - Parameter vector: 16 octets, which nobody can predict.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package static func encrypt(
        _ text: Span<UInt8>, _ size: AESKeySize, _ key: SecretBytes, vector: Span<UInt8>
    ) throws(OpenSSLError) -> [UInt8] {
        try chaining(size, key, vector, encrypts: true).encrypted(text)
    }

    private static func chaining(
        _ size: AESKeySize, _ key: SecretBytes, _ vector: Span<UInt8>, encrypts: Bool
    ) throws(OpenSSLError) -> BlockCipher {
        precondition(vector.count == blockLength)
        return try unsafe vector.withUnsafeBufferPointer { vector throws(OpenSSLError) in
            try unsafe BlockCipher(.cbc(size), key, vector.baseAddress, encrypts: encrypts)
        }
    }

    /// Unwraps a key (RFC 3394).
    ///
    /// - Parameters:
    ///   - wrapped: 8 octets longer than the key in it.
    ///   - size: of the key that wrapped it.
    /// - Returns: a key of the expected length; without meaning if it was not wrapped by this key.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package static func unwrap(
        _ wrapped: Span<UInt8>, _ size: AESKeySize, _ key: SecretBytes
    ) throws(OpenSSLError) -> RecoveredKey {
        let cipher = try unsafe BlockCipher(.wrap(size), key, nil, encrypts: false)
        let length = wrapped.count - 8
        precondition(length > 0)
        // OpenSSL writes the integrity check value too.
        let (output, isRight) = try cipher.update(wrapped, room: wrapped.count + blockLength, expecting: length)
        return RecoveredKey(octets: output, isRight: isRight)
    }

    /// Wraps a key (RFC 3394).
    ///
    /// - Parameter size: of the key that wraps it.
    /// - Returns: 8 octets more than the key has.
    /// - Throws: ``OpenSSLError`` when out of memory, or for a key that is not a multiple of 8 octets.
    package static func wrap(
        _ octets: SecretBytes, _ size: AESKeySize, _ key: SecretBytes
    ) throws(OpenSSLError) -> [UInt8] {
        let cipher = try unsafe BlockCipher(.wrap(size), key, nil, encrypts: true)
        return try octets.withBytes { octets throws(OpenSSLError) in try cipher.encrypted(octets) }
    }

    private func encrypted(_ text: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let (output, isRight) = try update(text, room: text.count + Self.blockLength)
        guard isRight else { throw .unspecified }
        return output.withBytes { octets in octets.indices.map { octets[$0] } }
    }

    /// - Parameter length: of the result, whatever OpenSSL writes; `nil` for what it writes.
    private func update(
        _ text: Span<UInt8>, room: Int, expecting length: Int? = nil
    ) throws(OpenSSLError) -> (SecretBytes, isRight: Bool) {
        var isRight = false
        let output = try unsafe SecretBytes(capacity: room) { output throws(OpenSSLError) in
            var (most, rest) = (CInt(0), CInt(0))
            let isRead = unsafe text.withUnsafeBufferPointer { text in
                unsafe EVP_CipherUpdate(context, output.baseAddress, &most, text.baseAddress, CInt(text.count)) == 1
            }
            let before = isRead ? min(max(Int(most), 0), room) : 0
            let end = unsafe output.baseAddress.map { unsafe $0 + before }
            let isEnded = unsafe EVP_CipherFinal_ex(context, end, &rest) == 1
            let written = min(before + max(Int(rest), 0), room)
            isRight = isRead && isEnded && written == length ?? written
            return length ?? (isRight ? written : 0)
        }
        // A wrong text leaves an entry in the thread's error queue, which must not be attributed to the next call.
        ERR_clear_error()
        return (output, isRight)
    }
}

@available(*, unavailable) extension BlockCipher: Sendable {}

/// A key that was to be recovered from a message. It has the expected length even if that failed, so that a failure goes
/// on like a success.
package struct RecoveredKey {
    package let octets: SecretBytes
    package let isRight: Bool

    package init(octets: SecretBytes, isRight: Bool) {
        self.octets = octets
        self.isRight = isRight
    }
}
