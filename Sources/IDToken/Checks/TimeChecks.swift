/// Checks that `exp` lies in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 9; RFC 7519, section 4.1.4.
package func checkExpiration(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let expiresAt = try claims.time(.expiration) else { throw .claimMissing(.expiration) }
    guard now < expiresAt.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenExpired }
    return expiresAt
}

/// Checks that `nbf`, if present, does not lie in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
/// - Source: RFC 7519, section 4.1.5.
package func checkNotBefore(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime? {
    let notBefore = try claims.time(.notBefore)
    if let notBefore, notBefore > now.advanced(bySeconds: policy.clockSkewSeconds) { throw .tokenNotYetValid }
    return notBefore
}

/// Checks that `iat` does not lie in the future, allowing for clock skew.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenNotYetValid``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 10; RFC 7519, section 4.1.6.
package func checkIssuedAt(_ claims: Claims, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) -> UnixTime {
    guard let issuedAt = try claims.time(.issuedAt) else { throw .claimMissing(.issuedAt) }
    guard issuedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .tokenNotYetValid }
    return issuedAt
}

/// Checks the token's age by its `iat`, if the settings limit it.
///
/// - Throws: ``Rejection/tokenTooOld``.
package func checkTokenAge(issuedAt: UnixTime, _ policy: ProviderPolicy, now: UnixTime) throws(Rejection) {
    guard let maximumAge = policy.maximumTokenAgeSeconds else { return }
    let oldest = issuedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
    guard now <= oldest else { throw .tokenTooOld }
}

/// Checks that the user authenticated recently enough, and returns `auth_time`.
///
/// The age is measured now, or at ``VerificationParameters/authenticationAgeIsCountedFrom`` if given.
///
/// `iat` is used if the token has no `auth_time`, unless that is required. An `auth_time` of 0 is a time (1970), not an
/// absent one. An `auth_time` in the future is rejected, since it proves nothing.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/authTimeTooOld``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 13; 3.1.2.1, `max_age`.
func checkAuthenticationAge(
    _ claims: Claims, _ policy: ProviderPolicy, atMost maximumAge: Int64?, isRequired: Bool, issuedAt: UnixTime,
    countedFrom reference: UnixTime?, now: UnixTime
) throws(Rejection) -> UnixTime? {
    let authTime = try claims.time(.authTime)
    guard let maximumAge else { return authTime }
    if isRequired, authTime == nil { throw .claimMissing(.authTime) }
    let authenticatedAt = authTime ?? issuedAt
    guard authenticatedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .claimInvalid(.authTime) }
    let oldest = authenticatedAt.advanced(bySeconds: maximumAge).advanced(bySeconds: policy.clockSkewSeconds)
    guard reference ?? now <= oldest else { throw .authTimeTooOld }
    return authTime
}

/// Checks that the user authenticated after the relying party revoked their sessions.
///
/// `iat` is used if the token has no `auth_time`. The comparison with `revokedAt` allows no clock skew: a session
/// that was just revoked must not come back. An `auth_time` that is in the future by more than the policy's clock skew
/// is rejected, since it proves nothing.
///
/// - Parameter revokedAt: `nil` if no session was revoked.
/// - Throws: ``Rejection/sessionRevoked``, ``Rejection/claimInvalid(_:)``.
package func checkSessionRevocation(
    _ claims: Claims, _ policy: ProviderPolicy, after revokedAt: UnixTime?, issuedAt: UnixTime, now: UnixTime
) throws(Rejection) {
    guard let revokedAt else { return }
    let authenticatedAt = try claims.time(.authTime) ?? issuedAt
    guard authenticatedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .claimInvalid(.authTime) }
    guard authenticatedAt >= revokedAt else { throw .sessionRevoked }
}
