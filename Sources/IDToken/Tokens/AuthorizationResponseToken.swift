package import JOSE
package import OpenSSL

/// The parameters of a signed authorization response. Only ``IDTokenVerifier`` creates one.
package struct VerifiedResponse: Sendable {
    /// All claims, the parameters among them.
    package let claims: JSONObject
}

extension IDTokenVerifier {
    /// Verifies a signed authorization response: its header, signature, issuer, audience and time.
    ///
    /// - Parameter audience: the client that the response must be for.
    /// - Throws: ``Rejection``.
    /// - Source: JWT Secured Authorization Response Mode for OAuth 2.0, section 2.4.
    package func verifyResponse(
        _ token: UnverifiedToken, with keys: JWKSet, under policy: ProviderPolicy, audience: String, now: UnixTime
    ) throws(Rejection) -> VerifiedResponse {
        let claims = token.claims
        let jws = try checkSigned(token, with: keys, allowing: policy.algorithms ?? .all)
        _ = try checkIssuer(claims, policy)
        if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        _ = try checkAudience(claims, policy, narrowedTo: audience)
        _ = try checkExpiration(claims, policy, now: now)
        _ = try checkNotBefore(claims, policy, now: now)
        return VerifiedResponse(claims: claims.object)
    }
}

/// Checks that an ID Token from the authorization endpoint came with this `state`, if it has an `s_hash`. Compared in
/// constant time.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/cryptographyUnavailable``.
/// - Source: Financial-grade API Security Profile 1.0, part 2, section 5.1.1.
package func checkStateHash(
    of token: VerifiedIDToken, _ state: String, _ checker: SignatureChecker
) throws(Rejection) {
    guard let claims = (try? JSONObject(token.claimsText)).map(Claims.init), claims.contains(.stateHash) else { return }
    guard let claimed = try claims.utf8(.stateHash) else { throw .claimInvalid(.stateHash) }
    // The curve's hash is 114 bytes long, and half of it has 76 characters.
    let digest = token.algorithm.tokenHash(edwardsCurve: claimed.count == 76 ? .ed448 : nil)
    guard try halfHash(of: state, by: digest, checker, equals: claimed) else {
        throw .claimInvalid(.stateHash)
    }
}
