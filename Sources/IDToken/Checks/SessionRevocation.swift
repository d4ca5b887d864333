/// Checks that the user authenticated no earlier than the moment at which the relying party revoked their sessions.
///
/// `iat` stands in where the token has no `auth_time`. The clock skew is not applied: a session that ended in the same moment must
/// not come back. An `auth_time` in the future is no evidence of anything.
///
/// - Parameter revokedAt: `nil` where no session was revoked.
/// - Throws: ``Rejection/sessionRevoked``, ``Rejection/claimInvalid(_:)``.
func checkSessionRevocation(
    _ claims: Claims, _ policy: ProviderPolicy, after revokedAt: UnixTime?, issuedAt: UnixTime, now: UnixTime
) throws(Rejection) {
    guard let revokedAt else { return }
    let authenticatedAt = try claims.time(.authTime) ?? issuedAt
    guard authenticatedAt <= now.advanced(bySeconds: policy.clockSkewSeconds) else { throw .claimInvalid(.authTime) }
    guard authenticatedAt >= revokedAt else { throw .sessionRevoked }
}
