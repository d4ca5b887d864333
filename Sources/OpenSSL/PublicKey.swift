private import COpenSSL
private import Synchronization

/// An elliptic curve, by `crv` of a JWK (RFC 7518, section 6.2.1.1), which is OpenSSL's name of the group.
package enum EllipticCurve: String, Sendable, CaseIterable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// The length in bytes of a coordinate, and of each half of a signature.
    package var coordinateLength: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }
}

/// An Edwards curve, by `crv` of a JWK (RFC 8037, section 2), which is OpenSSL's name of the key type.
package enum EdwardsCurve: String, Sendable, CaseIterable {
    case ed25519 = "Ed25519"
    case ed448 = "Ed448"

    /// The length of a public key in bytes.
    package var publicKeyLength: Int {
        switch self {
        case .ed25519: 32
        case .ed448: 57
        }
    }

    /// The length of a signature in bytes (RFC 8032, sections 5.1.6 and 5.2.6).
    package var signatureLength: Int { 2 * publicKeyLength }
}

/// The kind of a public key, including everything that the length of its signatures depends on.
package enum PublicKeyKind: Sendable, Equatable {
    case rsa(modulusLength: Int)
    case ellipticCurve(EllipticCurve)
    case edwards(EdwardsCurve)
}

/// What a public key is made of, with the lengths that its kind needs. Whether a point is on its curve is checked where
/// an `EVP_PKEY` is made of it.
package struct KeyMaterial: Sendable {
    package let kind: PublicKeyKind
    private let form: Form

    private enum Form: Sendable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// In uncompressed form: 0x04, x, y.
        case point(EllipticCurve, [UInt8])
        case edwards(EdwardsCurve, [UInt8])
    }

    /// An RSA key of 2048 to 8192 bits, with an odd exponent of at least 3 and at most 64 bits.
    ///
    /// Bytes are big-endian. Leading zeros are accepted, because some providers send them.
    package static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(KeyMaterialError) -> KeyMaterial {
        let modulus = modulus.drop { $0 == 0 }
        let exponent = exponent.drop { $0 == 0 }
        guard let first = modulus.first, let last = modulus.last, let lastOfExponent = exponent.last else {
            throw .malformed
        }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard bits >= 2048 else { throw .tooSmall }
        guard bits <= 8192, exponent.count <= 8 else { throw .tooLarge }
        guard last & 1 == 1, lastOfExponent & 1 == 1, exponent.count > 1 || lastOfExponent >= 3 else {
            throw .malformed
        }
        return KeyMaterial(
            kind: .rsa(modulusLength: modulus.count),
            form: .rsa(modulus: Array(modulus), exponent: Array(exponent)))
    }

    /// A key on one of the NIST curves, from its coordinates at full length.
    ///
    /// - Throws: ``KeyMaterialError/malformed``.
    package static func ellipticCurve(
        _ curve: EllipticCurve, x: [UInt8], y: [UInt8]
    ) throws(KeyMaterialError) -> KeyMaterial {
        // Leading zeros beyond the full length are accepted, short coordinates are not (RFC 7518, section 6.2.1.2).
        guard let x = x.droppingLeadingZeros(to: curve.coordinateLength),
            let y = y.droppingLeadingZeros(to: curve.coordinateLength)
        else { throw .malformed }
        return KeyMaterial(kind: .ellipticCurve(curve), form: .point(curve, [0x04] + x + y))
    }

    /// A key on an Edwards curve, from its encoded point. Points of small order are rejected: with such a key, one
    /// signature could be valid for several messages.
    ///
    /// OpenSSL checks during verification that the point is on the curve: no signature is valid with one that is not.
    ///
    /// - Throws: ``KeyMaterialError/malformed``.
    package static func edwards(_ curve: EdwardsCurve, point: [UInt8]) throws(KeyMaterialError) -> KeyMaterial {
        guard point.count == curve.publicKeyLength, !curve.isSmallOrderOrNotCanonical(point) else { throw .malformed }
        return KeyMaterial(kind: .edwards(curve), form: .edwards(curve, point))
    }

    /// The components that a JWK has. Numbers have no leading zeros, coordinates their full length.
    package var publicComponents: PublicComponents {
        switch form {
        case .rsa(let modulus, let exponent): [("n", modulus), ("e", exponent)]
        case .point(let curve, let point):
            [("x", Array(point[1...curve.coordinateLength])), ("y", Array(point[(curve.coordinateLength + 1)...]))]
        case .edwards(_, let point): [("x", point)]
        }
    }

    /// The uncompressed point of a key on a NIST curve.
    var point: [UInt8]? { if case .point(_, let point) = form { point } else { nil } }

    /// Makes an `EVP_PKEY`; the caller owns it.
    ///
    /// - Throws: ``KeyMaterialError/malformed`` if OpenSSL rejects the material: a point on a NIST curve that is at
    ///   infinity, out of range or not on the curve.
    func makeKey() throws(KeyMaterialError) -> OpaquePointer {
        switch form {
        case .rsa(let modulus, let exponent):
            return try unsafe makePublicKey(
                type: "RSA",
                [
                    .number(OSSL_PKEY_PARAM_RSA_N, bigEndian: modulus),
                    .number(OSSL_PKEY_PARAM_RSA_E, bigEndian: exponent),
                ])
        case .point(let curve, let point):
            return try unsafe makePublicKey(
                type: "EC",
                [.text(OSSL_PKEY_PARAM_GROUP_NAME, curve.rawValue), .octets(OSSL_PKEY_PARAM_PUB_KEY, point)])
        case .edwards(let curve, let point):
            let key = unsafe EVP_PKEY_new_raw_public_key_ex(nil, curve.rawValue, nil, point, point.count)
            guard let key = unsafe key else {
                _ = OpenSSLError.drain()
                throw .malformed
            }
            return unsafe key
        }
    }
}

/// A public key, decoded and checked once.
///
/// It holds the components only: there may be many thousands of keys, and an `EVP_PKEY` takes a kilobyte more. Each
/// thread that verifies makes its own.
package final class PublicKey: Sendable {
    package let kind: PublicKeyKind
    private let components: Components
    /// Identifies the key among all that this process has decoded. A memory address would not, because addresses are
    /// reused.
    let serial: Serial

    struct Serial: Hashable {
        private let number: Int

        static func next() -> Serial { Serial(number: count.add(1, ordering: .relaxed).newValue) }
        private static let count = Atomic(0)
    }

    /// What an `EVP_PKEY` is made of.
    // A class, so that a weak reference tells whether the key still exists.
    private final class Components: Sendable {
        let material: KeyMaterial

        init(_ material: KeyMaterial) { self.material = material }
    }

    /// - Throws: ``KeyMaterialError/malformed`` if OpenSSL rejects the material.
    package init(_ material: KeyMaterial) throws(KeyMaterialError) {
        components = Components(material)
        kind = material.kind
        serial = .next()
        let key = try unsafe material.makeKey()
        defer { unsafe EVP_PKEY_free(key) }
        if case .ellipticCurve = kind { try unsafe Self.checkPublicPoint(of: key) }
    }

    /// A copy of a key, as a separate object.
    package init(copying other: PublicKey) {
        components = other.components
        kind = other.kind
        serial = other.serial
    }

    /// The components that a JWK has. Numbers have no leading zeros, coordinates their full length.
    package var publicComponents: PublicComponents { components.material.publicComponents }

    /// An object that lives as long as the key or any copy of it. Unlike the key, it is not retained for each
    /// verification, so a weak reference to it costs nothing there.
    var sharedOwner: AnyObject { components }

    /// Makes an `EVP_PKEY`; the caller owns it.
    func makeKey() throws(OpenSSLError) -> OpaquePointer {
        do throws(KeyMaterialError) {
            return try unsafe components.material.makeKey()
        } catch {
            // The components have been accepted before.
            throw .drain()
        }
    }

    /// Checks a point that OpenSSL has accepted once more.
    ///
    /// A point that is at infinity, out of range or not on the curve is rejected. These curves have prime order, so each
    /// of their other points is in the group (NIST SP 800-56A revision 3, section 5.6.2.3.3, step 4).
    private static func checkPublicPoint(of key: OpaquePointer) throws(KeyMaterialError) {
        let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        // The whole check multiplies the point by the order, which takes longer than a signature.
        guard unsafe EVP_PKEY_public_check_quick(context) == 1 else {
            _ = OpenSSLError.drain()
            throw .malformed
        }
    }
}

extension [UInt8] {
    fileprivate func droppingLeadingZeros(to length: Int) -> [UInt8]? {
        guard count >= length, prefix(count - length).allSatisfy({ $0 == 0 }) else { return nil }
        return Array(suffix(length))
    }
}

extension EdwardsCurve {
    /// Whether an encoded point has an order of at most the cofactor, or a y coordinate that is not below the field's
    /// prime.
    ///
    /// The y coordinates of the small-order points are those of RFC 7748's security considerations (Ed25519: 0, 1, -1
    /// and the two of order 8; Ed448: 0, 1, -1). The sign bit is irrelevant.
    fileprivate func isSmallOrderOrNotCanonical(_ point: [UInt8]) -> Bool {
        var y = point
        switch self {
        case .ed25519:
            y[31] &= 0x7f
            let isBelowPrime = !(y[31] == 0x7f && y[1...30].allSatisfy { $0 == 0xff } && y[0] >= 0xed)
            return !isBelowPrime || Self.smallOrderEd25519.contains(y)
        case .ed448:
            guard y[56] & 0x7f == 0 else { return true }
            y.removeLast()
            // p = 2^448 - 2^224 - 1: little-endian ff × 28, fe, ff × 27.
            let prime = [UInt8](repeating: 0xff, count: 28) + [0xfe] + [UInt8](repeating: 0xff, count: 27)
            guard y.reversed().lexicographicallyPrecedes(prime.reversed()) else { return true }
            var minusOne = prime
            minusOne[0] = 0xfe
            let zero = [UInt8](repeating: 0, count: 56)
            var one = zero
            one[0] = 1
            return y == zero || y == one || y == minusOne
        }
    }

    private static let smallOrderEd25519: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
            0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
            0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
    ]
}

/// The public components of a key as the bytes of a JWK (RFC 7518, section 6): `n` and `e`; `x` and `y`; or `x` alone.
package typealias PublicComponents = [(name: String, octets: [UInt8])]

/// The components of a key of this kind.
func publicComponents(of key: OpaquePointer, _ kind: PublicKeyKind) throws(OpenSSLError) -> PublicComponents {
    switch kind {
    case .rsa: try unsafe rsaComponents(of: key)
    case .ellipticCurve(let curve): try unsafe ellipticCurveComponents(of: key, curve)
    case .edwards(let curve): [("x", try unsafe rawPublicKey(of: key, length: curve.publicKeyLength))]
    }
}

/// `n` and `e` of an RSA key.
func rsaComponents(of key: OpaquePointer) throws(OpenSSLError) -> PublicComponents {
    [
        ("n", try unsafe number(OSSL_PKEY_PARAM_RSA_N, of: key, length: nil)),
        ("e", try unsafe number(OSSL_PKEY_PARAM_RSA_E, of: key, length: nil)),
    ]
}

/// `x` and `y` of a key on a curve, at full length.
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

/// A public key in the form of a certificate or a `SubjectPublicKeyInfo`, before any of it is checked.
package typealias DecodedPublicKey = (kind: PublicKeyKind, components: PublicComponents)

/// The kind and the components of an RSA key or a key on a NIST curve; `nil` for any other.
func decodedPublicKey(_ key: OpaquePointer) -> DecodedPublicKey? {
    switch unsafe PublicKeyKind(of: key) {
    case .edwards, nil: nil
    case let kind?: (try? unsafe publicComponents(of: key, kind)).map { (kind, $0) }
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
