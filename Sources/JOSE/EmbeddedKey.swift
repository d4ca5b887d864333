private import Bytes
private import OpenSSL

/// A JWS that contains the public key for its signature, as proofs of possession do.
extension CompactJWS {
    /// The header's `jwk`; `nil` unless it is a public key that can verify, written strictly.
    ///
    /// Whoever created the JWS chose the key: a signature by it proves possession, and nothing else.
    ///
    /// - Source: RFC 7515, section 4.1.3; RFC 7517, section 9.2.
    package var embeddedKey: JWK? {
        guard let value = headerObject?["jwk"], value.kind == .object,
            let members = (try? JSONTree(readingObject: Array(value.json)))?.object,
            Self.privateMembers.allSatisfy({ members[$0] == nil }),
            Self.numbers.allSatisfy({ members[$0]?.string.map(Self.isStrict) ?? true }),
            let key = JWK(members), key.isUsable
        else { return nil }
        return key
    }

    private static func isStrict(_ text: String) -> Bool { Base64URL.decode(text.utf8.span) != nil }

    private static let numbers = ["n", "e", "x", "y"]
    /// RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1.
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
}

extension JWSVerifier {
    /// Whether a key has signed a JWS. For a key that is rarely seen twice: nothing of it is remembered, so that keys
    /// which anyone can create take no room from those of providers.
    ///
    /// - Throws: ``JWSError/cryptographyUnavailable``.
    package func isSigned(
        _ jws: CompactJWS, by key: JWK, with algorithm: SignatureAlgorithm
    ) throws(JWSError) -> Bool {
        guard key.algorithms.contains(algorithm), case .usable(let publicKey) = key.material,
            let scheme = algorithm.scheme(for: publicKey.kind)
        else { return false }
        do throws(OpenSSLError) {
            let (signature, signingInput) = (jws.signature, jws.signingInput)
            return try checker.isValid(signature.span, of: signingInput.span, byUnfamiliar: publicKey, scheme)
        } catch {
            throw .cryptographyUnavailable
        }
    }
}
