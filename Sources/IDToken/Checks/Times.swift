/// The times of an ID Token that have passed their checks.
struct TokenTimes {
    let expiresAt: UnixTime
    let issuedAt: UnixTime
    let notBefore: UnixTime?
}

/// Checks `exp`, then `nbf` and `iat`, then the token's age.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``,
///   ``Rejection/tokenNotYetValid``, ``Rejection/tokenTooOld``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, steps 9 and 10; RFC 7519, sections 4.1.4 to 4.1.6.
func checkTimes(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> TokenTimes {
    let expiresAt = try checkExpiration(claims, policy, now: now)
    let latestStart = now.advanced(bySeconds: policy.clockSkewSeconds)
    let notBefore = try claims.time(.notBefore)
    if let notBefore, notBefore > latestStart { throw .tokenNotYetValid }
    guard let issuedAt = try claims.time(.issuedAt) else { throw .claimMissing(.issuedAt) }
    guard issuedAt <= latestStart else { throw .tokenNotYetValid }
    if let maximumAge = policy.maximumTokenAgeSeconds {
        let oldest = issuedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
        guard now <= oldest else { throw .tokenTooOld }
    }
    return TokenTimes(expiresAt: expiresAt, issuedAt: issuedAt, notBefore: notBefore)
}

/// Checks `exp` alone: now must be before it, give or take the clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``.
func checkExpiration(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let expiresAt = try claims.time(.expiration) else { throw .claimMissing(.expiration) }
    guard now < expiresAt.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenExpired }
    return expiresAt
}
