package import OpenSSL

/// Signs with one key and one algorithm.
package struct JWSSigner: Sendable {
    private let key: SigningKey
    private let scheme: SignatureScheme
    package let algorithm: SignatureAlgorithm

    /// Signs with the algorithm that most verifiers support for a key of this kind.
    package init(_ key: SigningKey) {
        self.key = key
        switch key.kind {
        case .rsa: (algorithm, scheme) = (.rs256, .rsaPKCS1(.bits256))
        case .ellipticCurve(.p256): (algorithm, scheme) = (.es256, .ecdsa(.p256))
        case .ellipticCurve(.p384): (algorithm, scheme) = (.es384, .ecdsa(.p384))
        case .ellipticCurve(.p521): (algorithm, scheme) = (.es512, .ecdsa(.p521))
        case .edwards(let curve): (algorithm, scheme) = (.edDSA, .edwards(curve))
        }
    }

    /// - Returns: `nil` if the key can't sign with this algorithm.
    package init?(_ key: SigningKey, _ algorithm: SignatureAlgorithm) {
        guard let scheme = algorithm.scheme(for: key.kind) else { return nil }
        self.key = key
        self.scheme = scheme
        self.algorithm = algorithm
    }

    /// A JWS in compact serialization (RFC 7515, section 3.1).
    ///
    /// - Parameters:
    ///   - header: the JOSE header as JSON. It should name ``algorithm``.
    ///   - payload: any octets.
    /// - Throws: ``OpenSSLError``.
    package func compactJWS(header: [UInt8], payload: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let input = Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(payload)
        return input + [UInt8(ascii: ".")] + Base64URL.encode(try key.sign(input, scheme))
    }
}

/// The signing keys of `assay dev`, which sign whatever they are asked to. Nothing else may trust them.
package enum DevelopmentKeys {
    /// The beginning of each of their `kid`s, so that they can't be mistaken for a real provider's.
    package static let keyIDPrefix = "assay-dev-"

    /// Whether a key with this `kid` is one of them.
    package static func contain(_ keyID: String?) -> Bool { keyID?.utf8.starts(with: keyIDPrefix.utf8) == true }
}
