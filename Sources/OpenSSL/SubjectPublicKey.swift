private import COpenSSL

/// A public key in the form of a certificate or a `SubjectPublicKeyInfo`, before any of it is checked.
package typealias DecodedPublicKey = (kind: PublicKeyKind, components: PublicComponents)

/// The kind and the components of an RSA key or a key on a NIST curve; `nil` for any other.
func decodedPublicKey(_ key: OpaquePointer) -> DecodedPublicKey? {
    do throws(OpenSSLError) {
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            return (.rsa(modulusLength: Int(unsafe EVP_PKEY_get_size(key))), try unsafe rsaComponents(of: key))
        }
        guard unsafe EVP_PKEY_is_a(key, "EC") == 1, let curve = unsafe EllipticCurve(of: key) else { return nil }
        return (.ellipticCurve(curve), try unsafe ellipticCurveComponents(of: key, curve))
    } catch {
        return nil
    }
}

/// Reads a text that must hold one `PUBLIC KEY` in PEM (RFC 7468, section 13), and no other block; `nil` for anything
/// else.
package func decodedPublicKey(pem: Span<UInt8>) -> DecodedPublicKey? {
    let blocks = PEMBlock.all(in: pem)
    guard blocks.count == 1, blocks[0].label == "PUBLIC KEY", let der = blocks[0].decoded(from: pem) else {
        return nil
    }
    defer { ERR_clear_error() }
    let key = unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var position = buffer.baseAddress
        let end = unsafe buffer.baseAddress.map { unsafe $0 + buffer.count }
        guard let key = unsafe d2i_PUBKEY(nil, &position, buffer.count) else { return nil }
        guard unsafe position == end else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        return unsafe key
    }
    guard let key = unsafe key else { return nil }
    defer { unsafe EVP_PKEY_free(key) }
    return unsafe decodedPublicKey(key)
}
