/// Checks that `iat` does not lie in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 10; RFC 7519, section 4.1.6.
package func checkIssuedAt(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let issuedAt = try claims.time(.issuedAt) else { throw .claimMissing(.issuedAt) }
    guard issuedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenNotYetValid }
    return issuedAt
}
