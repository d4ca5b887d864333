package import JOSE

extension JWSVerifier {
    /// Checks that the signature was made by a key that the provider has published.
    ///
    /// - Throws: ``Rejection/keyNotFound``, ``Rejection/keyUnsuitable``, ``Rejection/signatureInvalid``,
    ///   ``Rejection/cryptographyUnavailable``.
    /// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 6; RFC 7515, section 5.2.
    @inline(__always)
    package func checkSignature(
        _ jws: CompactJWS, _ keys: JWKSet, _ algorithm: SignatureAlgorithm
    ) throws(Rejection) -> VerifiedJWS {
        do throws(JWSError) {
            return try verify(jws, with: keys, by: algorithm)
        } catch {
            throw Rejection(error)
        }
    }
}
