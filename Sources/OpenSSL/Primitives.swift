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

/// The version of the OpenSSL library in use, such as `OpenSSL 3.0.19 27 Jan 2026`.
package func openSSLVersion() -> String {
    unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
}
