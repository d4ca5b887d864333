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
    let notBefore = try checkNotBefore(claims, policy, now: now)
    let issuedAt = try checkIssuedAt(claims, policy, now: now)
    try checkTokenAge(issuedAt: issuedAt, policy, now: now)
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

/// Checks `nbf` alone: where it is there, it must not lie in the future, give or take the clock skew.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
func checkNotBefore(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime? {
    let notBefore = try claims.time(.notBefore)
    if let notBefore, notBefore > now.advanced(bySeconds: policy.clockSkewSeconds) { throw .tokenNotYetValid }
    return notBefore
}

/// Checks `iat` alone: it must not lie in the future, give or take the clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
func checkIssuedAt(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let issuedAt = try claims.time(.issuedAt) else { throw .claimMissing(.issuedAt) }
    guard issuedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenNotYetValid }
    return issuedAt
}

/// Checks the token's age by its `iat`, where the settings limit it.
///
/// - Throws: ``Rejection/tokenTooOld``.
func checkTokenAge(issuedAt: UnixTime, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) {
    guard let maximumAge = policy.maximumTokenAgeSeconds else { return }
    let oldest = issuedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
    guard now <= oldest else { throw .tokenTooOld }
}
