/// Checks that `exp` lies in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 9; RFC 7519, section 4.1.4.
package func checkExpiration(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let expiresAt = try claims.time(.expiration) else { throw .claimMissing(.expiration) }
    guard now < expiresAt.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenExpired }
    return expiresAt
}
