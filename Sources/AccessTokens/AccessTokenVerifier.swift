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
        let results = try runAccessTokenChecks(
            on: token, with: keys, algorithms: algorithms, under: policy, dialect, expecting: parameters, now: now,
            watchedBy: FirstFailure())
        // Unreachable: `FirstFailure` throws when a check fails.
        guard let verified = results.token else { throw .cryptographyUnavailable }
        return verified
    }

    /// Runs the checks that need no keys.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``; for a load balancer's assertion,
    ///   also the rejection for any other error in its header.
    package func checkAccessTokenHeader(
        _ token: UnverifiedToken, allowing algorithms: SignatureAlgorithms, _ dialect: AccessTokenDialect
    ) throws(Rejection) {
        _ = try runAccessTokenHeaderChecks(on: token, allowing: algorithms, dialect, watchedBy: FirstFailure())
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
