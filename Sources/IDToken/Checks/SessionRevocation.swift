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
