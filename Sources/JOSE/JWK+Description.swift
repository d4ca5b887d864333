private import JSON
internal import OpenSSL

/// Human-readable descriptions of a key.
extension JWK {
    /// Whether the key may verify tokens with this algorithm, according to its `kty`, `crv`, `alg`, `use` and
    /// `key_ops`.
    package func fits(_ algorithm: SignatureAlgorithm) -> Bool { algorithms.contains(algorithm) }

    /// Its type and size, such as `RSA, 2048 bits` or `EC P-256`.
    package var typeText: String {
        if let modulusBits { return "RSA, \(modulusBits) bits" }
        return curve.map { keyType + " " + $0 } ?? keyType
    }

    /// The length of its signatures in bytes; `nil` if it can't verify anything.
    package var signatureLength: Int? {
        if case .usable(let key) = material { key.kind.signatureLength } else { nil }
    }

    /// Whether it is an RSA key with fewer than 2048 bits.
    var isTooSmall: Bool { modulusBits.map { $0 < 2048 } ?? false }

    /// The length of an RSA key's modulus in bits.
    private var modulusBits: Int? {
        guard keyType == "RSA", let octets = members["n"]?.string.flatMap(Base64URL.decodeLeniently)
        else { return nil }
        let significant = octets.drop { $0 == 0 }
        return significant.count * 8 - (significant.first?.leadingZeroBitCount ?? 0)
    }
}
