private import COpenSSL

/// An OpenSSL call failed where it should not have: out of memory, or an algorithm the library does not offer.
///
/// What a key or signature from outside can provoke is never this error, but ``KeyMaterialError`` or a plain `false`.
package struct OpenSSLError: Error, Equatable {
    /// OpenSSL's packed error code of the oldest entry in the thread's queue; 0 where the queue was empty.
    package let code: UInt

    /// Empties the thread's error queue and returns its oldest entry.
    ///
    /// The whole queue goes, since a leftover entry would be blamed on the next call of this thread.
    static func drain() -> OpenSSLError {
        let oldest = ERR_get_error()
        ERR_clear_error()
        return OpenSSLError(code: oldest)
    }
}

/// Why key material is no usable public key.
package enum KeyMaterialError: Error, Equatable, Sendable {
    /// An RSA modulus of fewer than 2048 bits.
    case tooSmall
    /// An RSA modulus of more than 8192 bits, or a public exponent of more than 64: a verify would cost too much.
    case tooLarge
    /// An even modulus or exponent, an exponent under 3, a coordinate of the wrong length, a point that is not on its
    /// curve or generates a small subgroup.
    case malformed
}

/// Throws unless an OpenSSL call answered exactly 1; it may also answer 0 and negative numbers.
func check(_ result: CInt) throws(OpenSSLError) {
    guard result == 1 else { throw .drain() }
}
