private import Bytes
private import COpenSSL

/// Whether two byte sequences are equal, in a time that depends on their lengths only.
package func constantTimeEquals(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}

/// `count` octets from OpenSSL's cryptographic random generator.
///
/// - Throws: ``OpenSSLError`` when the generator can't be seeded.
package func randomBytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try check(unsafe bytes.withUnsafeMutableBufferPointer { unsafe RAND_bytes($0.baseAddress, CInt(count)) })
    return bytes
}

/// Keeps OpenSSL from taking itself down while the process exits, when other threads may still be verifying.
///
/// To be called before anything else of this room, by whoever owns the process.
///
/// - Throws: ``OpenSSLError`` when OpenSSL can't start.
package func disableOpenSSLExitHandler() throws(OpenSSLError) {
    try check(OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil))
}

/// The version of the OpenSSL library in use, such as `OpenSSL 3.0.19 27 Jan 2026`.
package func openSSLVersion() -> String {
    unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
}

/// Whether a text is the hexadecimal digits, in lower case, of a digest, in a time that depends on their lengths only.
///
/// The digits lie on the stack: an array of them took 250 instructions more.
///
/// - Parameter digest: a SHA-256.
package func constantTimeEquals(_ text: Span<UInt8>, hexadecimalOf digest: Span<UInt8>) -> Bool {
    precondition(digest.count == DigestAlgorithm.sha256.outputLength)
    var digits = InlineArray<64, UInt8>(repeating: 0)
    var output = digits.mutableSpan
    var bytes = unsafe output.mutableBytes
    for index in 0..<8 {
        let four = unsafe digest.bytes.unsafeLoadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
        let eight = hexadecimalDigits(UInt32(littleEndian: four)).littleEndian
        bytes.storeBytes(of: eight, toByteOffset: index * 8, as: UInt64.self)
    }
    return constantTimeEquals(text, digits.span)
}
