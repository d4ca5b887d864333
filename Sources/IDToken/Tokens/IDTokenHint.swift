package import JOSE

/// An ID Token that the provider once issued to the client: it names a person to the provider, and proves nothing else.
///
/// It may have expired, and its nonce is not known. Only ``IDTokenVerifier`` creates one.
package struct VerifiedHint: Sendable {
    /// The canonical issuer.
    package let issuer: String
    package let subject: String
}

extension IDTokenVerifier {
    /// Verifies an `id_token_hint`: its header, signature, issuer, audience and subject. Its age does not matter, so
    /// neither does `exp`, but a token from the future is refused.
    ///
    /// - Parameter audience: if given, the only audience that counts as ours.
    /// - Throws: ``Rejection``.
    /// - Source: OpenID Connect Core 1.0, section 3.1.2.2; RP-Initiated Logout 1.0, section 4.
    package func verifyHint(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        audience: String?, now: UnixTime
    ) throws(Rejection) -> VerifiedHint {
        let claims = token.claims
        let jws = try checkSigned(token, with: keys, allowing: policy.algorithms ?? algorithms)
        let issuer = try checkIssuer(claims, policy)
        if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        _ = try checkAudience(claims, policy, narrowedTo: audience)
        _ = try checkAuthorizedParty(claims, policy)
        _ = try checkNotBefore(claims, policy, now: now)
        _ = try checkIssuedAt(claims, policy, now: now)
        let subject = try checkSubject(claims, policy)
        // A logout token of the provider is no ID Token.
        try checkNoEvents(claims)
        return VerifiedHint(issuer: issuer, subject: subject)
    }
}

extension UnverifiedToken {
    /// Checks the unverified issuer and audience of an `id_token_hint`, before keys are fetched for it.
    ///
    /// - Throws: the rejection for the first that would not pass.
    package func checkHintClaims(of policy: ProviderPolicy) throws(Rejection) {
        _ = try checkIssuer(claims, policy)
        _ = try checkAudience(claims, policy, narrowedTo: nil)
    }
}
