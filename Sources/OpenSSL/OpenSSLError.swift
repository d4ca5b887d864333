private import COpenSSL

/// An OpenSSL call failed unexpectedly: out of memory, or an algorithm that the library does not have.
///
/// Keys and signatures from outside never cause this error; they cause ``KeyMaterialError`` or `false`.
package struct OpenSSLError: Error, Equatable {
    /// OpenSSL's packed error code of the oldest entry in the thread's queue; 0 if the queue was empty.
    package let code: UInt

    /// Empties the thread's error queue and returns its oldest entry.
    ///
    /// The whole queue is cleared, because a leftover entry would be attributed to the thread's next call.
    static func drain() -> OpenSSLError {
        let oldest = ERR_get_error()
        ERR_clear_error()
        return OpenSSLError(code: oldest)
    }
}

/// Why key material is not a usable public key.
package enum KeyMaterialError: Error, Equatable, Sendable {
    /// An RSA modulus of fewer than 2048 bits.
    case tooSmall
    /// An RSA modulus of more than 8192 bits, or a public exponent of more than 64 bits: verification would be too
    /// expensive.
    case tooLarge
    /// An even modulus or exponent, an exponent below 3, a coordinate of the wrong length, or a point that is not on
    /// its curve or generates a small subgroup.
    case malformed
}

/// Throws unless an OpenSSL call returned exactly 1; failures may be 0 or negative.
func check(_ result: CInt) throws(OpenSSLError) {
    guard result == 1 else { throw .drain() }
}
