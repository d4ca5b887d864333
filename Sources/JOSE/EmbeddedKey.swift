private import Bytes
private import OpenSSL

/// The public key for a JWS's signature in its own header, as proofs of possession have it.
///
/// Whoever created the JWS chose the key: a signature by it proves possession, and nothing else.
///
/// - Source: RFC 7515, section 4.1.3.
package struct EmbeddedKey: Sendable {
    /// Identifies the key: the SHA-256 of its type and public members (RFC 7638), in base64url.
    package let thumbprint: String
    fileprivate let material: KeyMaterial
    fileprivate let algorithms: SignatureAlgorithms

    /// `nil` unless it is a public key that can verify, written strictly. Whether its point is on the curve is not
    /// checked here.
    ///
    /// - Source: RFC 7517, section 9.2.
    fileprivate init?(_ members: JSONObject) {
        guard Names.privateMembers.allSatisfy({ members.kind(of: $0) == nil }),
            let keyType = members[Names.keyType]?.string
        else { return nil }
        let curve = members[Names.curve]?.string
        let found = try? KeyMaterial(keyType: keyType, curve: curve) { name in
            members[name].map { $0.utf8.flatMap { Base64URL.decode($0.span) } }
        }
        algorithms = SignatureAlgorithms(
            fitting: keyType, curve, keyAlgorithm: members[Names.algorithm].map(\.string),
            use: members[Names.use].map(\.string),
            operations: members[Names.operations].map { $0.elements?.map(\.string) })
        guard let found, !algorithms.isEmpty,
            let thumbprint = keyThumbprint(keyType: keyType, { members[$0]?.string })
        else { return nil }
        material = found
        self.thumbprint = thumbprint
    }

    private enum Names {
        static let keyType: JSONName = "kty"
        static let curve: JSONName = "crv"
        static let algorithm: JSONName = "alg"
        static let use: JSONName = "use"
        static let operations: JSONName = "key_ops"
        /// RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1.
        static let privateMembers: [JSONName] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
    }
}

extension CompactJWS {
    /// The header's `jwk`; `nil` if it is no public key that can verify.
    package var embeddedKey: EmbeddedKey? { headerObject?[Self.key]?.object.flatMap(EmbeddedKey.init) }

    private static let key: JSONName = "jwk"
}

extension JWSVerifier {
    /// Checks that a JWS was signed with the key in it. Nothing of the key is remembered, so that keys which anyone can
    /// create take no room from those of providers.
    ///
    /// - Throws: ``JWSError``: `keyUnsuitable` if the key's point is not on its curve; `signatureInvalid`,
    ///   `cryptographyUnavailable`.
    package func checkSignature(
        of jws: CompactJWS, by key: EmbeddedKey, with algorithm: SignatureAlgorithm
    ) throws(JWSError) {
        guard key.algorithms.contains(algorithm), let scheme = algorithm.scheme(for: key.material.kind) else {
            throw .signatureInvalid
        }
        let (signature, signingInput) = (jws.signature, jws.signingInput)
        let verdict: UnfamiliarVerdict
        do throws(OpenSSLError) {
            verdict = try checker.verdict(
                on: signature.span, of: signingInput.span, byUnfamiliar: key.material, scheme)
        } catch {
            throw .cryptographyUnavailable
        }
        switch verdict {
        case .valid: return
        case .invalid: throw .signatureInvalid
        case .keyMalformed: throw .keyUnsuitable
        }
    }
}
