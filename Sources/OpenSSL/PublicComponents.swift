private import COpenSSL

/// The public components of a key as the bytes of a JWK (RFC 7518, section 6): `n` and `e`; `x` and `y`; or `x` alone.
package typealias PublicComponents = [(name: String, octets: [UInt8])]

/// `n` and `e` of an RSA key.
///
/// - Throws: ``OpenSSLError``.
func rsaComponents(of key: OpaquePointer) throws(OpenSSLError) -> PublicComponents {
    [
        ("n", try unsafe number(OSSL_PKEY_PARAM_RSA_N, of: key, length: nil)),
        ("e", try unsafe number(OSSL_PKEY_PARAM_RSA_E, of: key, length: nil)),
    ]
}

/// `x` and `y` of a key on a curve, at full length.
///
/// - Throws: ``OpenSSLError``.
func ellipticCurveComponents(
    of key: OpaquePointer, _ curve: EllipticCurve
) throws(OpenSSLError) -> PublicComponents {
    [
        ("x", try unsafe number(OSSL_PKEY_PARAM_EC_PUB_X, of: key, length: curve.coordinateLength)),
        ("y", try unsafe number(OSSL_PKEY_PARAM_EC_PUB_Y, of: key, length: curve.coordinateLength)),
    ]
}

private func number(
    _ name: String, of key: OpaquePointer, length: Int?
) throws(OpenSSLError) -> [UInt8] {
    var number: OpaquePointer?
    try check(unsafe EVP_PKEY_get_bn_param(key, name, &number))
    defer { unsafe BN_free(number) }
    let length = unsafe length ?? Int(BN_num_bits(number) + 7) / 8
    var octets = [UInt8](repeating: 0, count: length)
    guard unsafe BN_bn2binpad(number, &octets, CInt(length)) == length else { throw .drain() }
    return octets
}

extension EllipticCurve {
    /// The curve of an EC key; `nil` for any that JOSE has no algorithm for.
    init?(of key: OpaquePointer) {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return nil }
        let text = name.prefix(length).map { UInt8(bitPattern: $0) }
        // OpenSSL's names for the curves.
        switch String(decoding: text, as: UTF8.self) {
        case "prime256v1", "P-256": self = .p256
        case "secp384r1", "P-384": self = .p384
        case "secp521r1", "P-521": self = .p521
        default: return nil
        }
    }
}
