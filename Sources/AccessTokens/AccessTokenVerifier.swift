package import IDToken
package import JOSE

/// Verifies JWT access tokens, without I/O and without a clock.
///
/// - Source: RFC 9068, section 4; RFC 8725, section 3.12.
extension JWSVerifier {
    /// Verifies an access token: header, signature, then the claims. Throws at the first check that fails.
    ///
    /// - Parameters:
    ///   - keys: the provider's keys.
    ///   - algorithms: the algorithms that the provider may sign with, unless the policy lists its own.
    ///   - policy: its audiences are the API's own identifiers, and its authorized parties are clients.
    ///   - dialect: how the provider's access tokens are recognized and read.
    ///   - now: the current time.
    /// - Throws: ``Rejection``.
    package func verifyAccessToken(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, expecting parameters: AccessTokenParameters, now: UnixTime
    ) throws(Rejection) -> VerifiedAccessToken {
        let claims = token.claims
        let algorithm = try checkAccessTokenHeader(token, allowing: policy.algorithms ?? algorithms, dialect)
        let jws = try checkSignature(token.jws, keys, algorithm)
        let issuer = try checkIssuer(claims, policy)
        if !policy.keyIssuers.isEmpty { try checkKeyIssuer(jws.keyIssuer, claims, policy) }
        try checkIsAccessToken(claims, dialect)
        let audiences = try checkResourceAudience(claims, policy, narrowedTo: parameters.audience)
        let client = try checkClient(token, policy, dialect)
        let expiresAt = try checkExpiration(claims, policy, now: now)
        let notBefore = try checkNotBefore(claims, policy, now: now)
        let issuedAt = try checkIssueTime(
            claims, policy, dialect, sessionsRevokedAt: parameters.authenticatedAfter, now: now)
        let subject = try checkUserOrMachine(claims, dialect)
        try checkRequiredClaims(claims, policy)
        try checkClaimValues(claims, policy)
        if policy.serviceAccounts.isActive { try checkServiceAccount(claims, policy, subject: subject) }
        let identity = try Identity(claims, issuer: issuer, subject: subject, policy, clientName: nil)
        try checkExpectedSubject(identity, parameters.expectedSubject)
        let authorization = try Authorization(claims, client: client, dialect.authorization)
        try checkScopes(authorization, contain: parameters.scopes)
        return VerifiedAccessToken(
            identity: identity, authorization: authorization, audiences: audiences,
            authorizedParty: claims.text(.authorizedParty), issuedAt: issuedAt, expiresAt: expiresAt,
            notBefore: notBefore, authTime: try claims.time(.authTime), claims: claims, jws: jws)
    }

    /// Makes the checks that need no keys, and returns the algorithm.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``; for a load balancer's assertion,
    ///   also the rejection for anything wrong in its header.
    @discardableResult
    package func checkAccessTokenHeader(
        _ token: UnverifiedToken, allowing algorithms: SignatureAlgorithms, _ dialect: AccessTokenDialect
    ) throws(Rejection) -> SignatureAlgorithm {
        try checkAccessTokenType(token.jws.header, dialect)
        let algorithm = try checkAlgorithm(token.jws.header, allowing: algorithms)
        if let signer = dialect.loadBalancer { try LoadBalancerHeader(token).check(token, signedBy: signer) }
        return algorithm
    }
}

extension UnverifiedToken {
    /// Whether fetching keys for this access token could help: its unverified issuer, audience, client and expiry would
    /// pass.
    ///
    /// Without this check, junk tokens could trigger requests to a provider.
    package func wouldPassClaims(
        ofAccessTokenUnder policy: ProviderPolicy, _ dialect: AccessTokenDialect, now: UnixTime
    ) -> Bool {
        do throws(Rejection) {
            if let signer = dialect.loadBalancer { try LoadBalancerHeader(self).check(self, signedBy: signer) }
            _ = try checkIssuer(claims, policy)
            _ = try checkResourceAudience(claims, policy, narrowedTo: nil)
            _ = try checkClient(self, policy, dialect)
            _ = try checkExpiration(claims, policy, now: now)
            return true
        } catch {
            return false
        }
    }
}
