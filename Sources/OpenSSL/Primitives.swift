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
package func keepOpenSSLThroughExit() throws(OpenSSLError) {
    try check(OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil))
}

/// The version of the OpenSSL library in use, such as `OpenSSL 3.0.19 27 Jan 2026`.
package func openSSLVersion() -> String {
    unsafe String(cString: OpenSSL_version(OPENSSL_VERSION))
}

/// Octets as hexadecimal digits in lower case.
package func hexadecimal(_ octets: Span<UInt8>) -> [UInt8] {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
    // Through a pointer: appended one by one, the digits of a nonce's hash took 940 instructions.
    return unsafe [UInt8](unsafeUninitializedCapacity: octets.count * 2) { digits, count in
        for index in octets.indices {
            unsafe digits[2 * index] = digit(octets[index] >> 4)
            unsafe digits[2 * index + 1] = digit(octets[index] & 15)
        }
        count = octets.count * 2
    }
}
