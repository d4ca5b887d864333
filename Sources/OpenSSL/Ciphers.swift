private import COpenSSL

/// The length of an AES key, in octets.
package enum AESKeySize: Int, Sendable, CaseIterable {
    case bits128 = 16
    case bits192 = 24
    case bits256 = 32

    package var length: Int { rawValue }
}

/// A mode of AES, with each length of key.
private struct CipherMode {
    private let bits128, bits192, bits256: CipherAlgorithm

    static let gcm = CipherMode("GCM")
    /// Cipher block chaining, with the padding of PKCS#7.
    static let cbc = CipherMode("CBC")
    /// Key wrap (RFC 3394).
    static let wrap = CipherMode("WRAP")

    private init(_ name: String) {
        bits128 = CipherAlgorithm(name, .bits128)
        bits192 = CipherAlgorithm(name, .bits192)
        bits256 = CipherAlgorithm(name, .bits256)
    }

    subscript(size: AESKeySize) -> CipherAlgorithm {
        switch size {
        case .bits128: bits128
        case .bits192: bits192
        case .bits256: bits256
        }
    }
}

/// An `EVP_CIPHER`, fetched once and never freed, so that it lives as long as the process.
@safe private struct CipherAlgorithm: Sendable {
    // Immutable and reference-counted by OpenSSL, so threads can share it.
    nonisolated(unsafe) let pointer: OpaquePointer
    let keyLength: Int

    init(_ mode: String, _ size: AESKeySize) {
        let name = "AES-\(size.length * 8)-\(mode)"
        // No input can cause this: every OpenSSL 3 has these modes.
        guard let fetched = unsafe EVP_CIPHER_fetch(nil, name, nil) else {
            preconditionFailure("this OpenSSL offers no \(name)")
        }
        unsafe pointer = fetched
        keyLength = size.length
    }

    /// Prepares a context for a text under a key.
    func begin(
        _ context: OpaquePointer, _ key: SecretBytes, _ vector: UnsafePointer<UInt8>?, encrypts: Bool
    ) throws(OpenSSLError) {
        precondition(key.count == keyLength)
        try key.withBytes { key throws(OpenSSLError) in
            try check(
                unsafe key.withUnsafeBufferPointer {
                    unsafe EVP_CipherInit_ex2(context, pointer, $0.baseAddress, vector, encrypts ? 1 : 0, nil)
                })
        }
    }
}

/// AES without authentication, for one text under one key: an `EVP_CIPHER_CTX`. Confined to one thread.
@safe package final class BlockCipher {
    private let context: OpaquePointer

    /// A block, and the initialization vector, in octets.
    package static let blockLength = 16

    private init(
        _ algorithm: CipherAlgorithm, _ key: SecretBytes, _ vector: UnsafePointer<UInt8>?, encrypts: Bool
    ) throws(OpenSSLError) {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .drain() }
        unsafe self.context = context
        // Without it, OpenSSL refuses to wrap keys; it means nothing to other modes.
        unsafe EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        try unsafe algorithm.begin(context, key, vector, encrypts: encrypts)
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Decrypts AES-CBC. Verify the code of the text first: an answer that depends on the padding would reveal the
    /// text.
    ///
    /// - Parameter vector: 16 octets.
    /// - Returns: `nil` if the length or the padding is wrong.
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
            try unsafe BlockCipher(CipherMode.cbc[size], key, vector.baseAddress, encrypts: encrypts)
        }
    }

    /// Unwraps a key (RFC 3394).
    ///
    /// - Parameters:
    ///   - wrapped: 8 octets longer than the key in it.
    ///   - size: of the key that wrapped it.
    /// - Returns: a key of the expected length; without meaning if it was not wrapped by this key.
    package static func unwrap(
        _ wrapped: Span<UInt8>, _ size: AESKeySize, _ key: SecretBytes
    ) throws(OpenSSLError) -> RecoveredKey {
        let cipher = try unsafe BlockCipher(CipherMode.wrap[size], key, nil, encrypts: false)
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
    /// - Throws: ``OpenSSLError`` for a key that is not a multiple of 8 octets.
    package static func wrap(
        _ octets: SecretBytes, _ size: AESKeySize, _ key: SecretBytes
    ) throws(OpenSSLError) -> [UInt8] {
        let cipher = try unsafe BlockCipher(CipherMode.wrap[size], key, nil, encrypts: true)
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

/// AES-GCM (NIST SP 800-38D): an `EVP_CIPHER_CTX` that is reused. Confined to one thread.
@safe package final class AuthenticatedCipher {
    private let context: OpaquePointer
    private let algorithm: CipherAlgorithm
    package static let nonceLength = 12
    package static let tagLength = 16

    /// - Parameter size: of the key.
    package init(_ size: AESKeySize = .bits256) throws(OpenSSLError) {
        algorithm = CipherMode.gcm[size]
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
        var isAuthentic = false
        let text = try unsafe SecretBytes(capacity: max(count, 1)) { text throws(OpenSSLError) in
            var (length, rest) = (CInt(0), CInt(0))
            try check(
                unsafe sealed.withUnsafeBufferPointer { sealed in
                    unsafe EVP_CipherUpdate(context, text.baseAddress, &length, sealed.baseAddress, CInt(count))
                })
            // GCM adds no further octets.
            isAuthentic = unsafe EVP_CipherFinal_ex(context, text.baseAddress, &rest) == 1
            return count
        }
        // A wrong tag leaves an entry in the thread's error queue, which must not be attributed to the next call.
        if !isAuthentic { ERR_clear_error() }
        // The plaintext must not be used before the tag is verified.
        return isAuthentic ? text : nil
    }

    private func begin(_ key: SecretBytes, _ nonce: Span<UInt8>, encrypts: Bool) throws(OpenSSLError) {
        precondition(nonce.count == Self.nonceLength)
        try unsafe nonce.withUnsafeBufferPointer { nonce throws(OpenSSLError) in
            try unsafe algorithm.begin(context, key, nonce.baseAddress, encrypts: encrypts)
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
