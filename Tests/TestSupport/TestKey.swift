package import JOSE
package import OpenSSL

/// A key pair generated for this run, with the JWK of its public key.
package final class TestKey: Sendable {
    package let keyID: String
    /// The `alg` of tokens by this key, unless a test sets another.
    package let algorithm: String
    package let signing: SigningKey

    package init(_ keyID: String, _ algorithm: String, _ kind: PublicKeyKind) {
        self.keyID = keyID
        self.algorithm = algorithm
        signing = try! SigningKey(generating: kind)
    }

    package static let rsa = TestKey("rsa", "RS256", .rsa(modulusLength: 256))
    package static let otherRSA = TestKey("other-rsa", "RS256", .rsa(modulusLength: 256))
    package static let p256 = TestKey("p256", "ES256", .ellipticCurve(.p256))
    package static let otherP256 = TestKey("other-p256", "ES256", .ellipticCurve(.p256))
    /// Named as AWS's load balancers name their keys.
    package static let loadBalancer = TestKey("004cb65f-3ef7-4efa-a149-4f19b4c754c8", "ES256", .ellipticCurve(.p256))
    package static let p384 = TestKey("p384", "ES384", .ellipticCurve(.p384))
    package static let p521 = TestKey("p521", "ES512", .ellipticCurve(.p521))
    package static let ed25519 = TestKey("ed25519", "EdDSA", .edwards(.ed25519))
    package static let otherEd25519 = TestKey("other-ed25519", "EdDSA", .edwards(.ed25519))
    package static let ed448 = TestKey("ed448", "EdDSA", .edwards(.ed448))

    package func publicKey() -> PublicKey {
        let components = try! signing.publicComponents().map(\.octets)
        return switch signing.kind {
        case .rsa: try! PublicKey(.rsa(modulus: components[0], exponent: components[1]))
        case .ellipticCurve(let curve): try! PublicKey(.ellipticCurve(curve, x: components[0], y: components[1]))
        case .edwards(let curve): try! PublicKey(.edwards(curve, point: components[0]))
        }
    }

    /// The public key as a JWK with `kty`, `crv`, the components, and `kid`.
    ///
    /// - Parameter changes: members to add or replace; `nil` removes one.
    package func jwk(_ changes: [String: JSONTree?] = [:]) -> JSONTree {
        var members: [String: JSONTree] = ["kid": .string(keyID)]
        switch signing.kind {
        case .rsa: members["kty"] = .string("RSA")
        case .ellipticCurve(let curve):
            members["kty"] = .string("EC")
            members["crv"] = .string(curve == .p256 ? "P-256" : curve == .p384 ? "P-384" : "P-521")
        case .edwards(let curve):
            members["kty"] = .string("OKP")
            members["crv"] = .string(curve == .ed25519 ? "Ed25519" : "Ed448")
        }
        for (name, octets) in try! signing.publicComponents() { members[name] = .string(base64URL(octets)) }
        for (name, value) in changes { members[name] = value }
        return .object(members)
    }

    /// A signature with the scheme of a JOSE algorithm.
    package func sign(_ message: [UInt8], as algorithm: String? = nil) -> [UInt8] {
        try! signing.sign(message, scheme(algorithm ?? self.algorithm))
    }

    /// A signer of compact JWSs with a JOSE algorithm.
    func signer(as algorithm: String? = nil) -> JWSSigner {
        let name = algorithm ?? self.algorithm
        guard let algorithm = SignatureAlgorithm(rawValue: name), let signer = JWSSigner(signing, algorithm) else {
            preconditionFailure("the key does not sign \(name)")
        }
        return signer
    }

    private func scheme(_ algorithm: String) -> SignatureScheme {
        switch algorithm {
        case "RS256": .rsaPKCS1(.bits256)
        case "RS384": .rsaPKCS1(.bits384)
        case "RS512": .rsaPKCS1(.bits512)
        case "PS256": .rsaPSS(.bits256)
        case "PS384": .rsaPSS(.bits384)
        case "PS512": .rsaPSS(.bits512)
        case "ES256": .ecdsa(.p256)
        case "ES384": .ecdsa(.p384)
        case "ES512": .ecdsa(.p521)
        case "EdDSA": signing.kind == .edwards(.ed448) ? .edwards(.ed448) : .edwards(.ed25519)
        case "Ed25519": .edwards(.ed25519)
        case "Ed448": .edwards(.ed448)
        default: preconditionFailure("no scheme for \(algorithm)")
        }
    }
}
