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
