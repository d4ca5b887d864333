internal import IDToken

/// Checks `iat`, the token's age, and that the user's sessions were not revoked since; returns `iat`.
///
/// A load balancer's assertion has none. Then it passes only if nothing depends on it.
///
/// - Parameter revokedAt: `nil` if no session was revoked.
/// - Returns: `nil` only if the dialect's tokens may lack `iat`, and this one does.
/// - Throws: ``Rejection``, as each of these checks.
func checkIssueTime(
    _ claims: Claims, _ policy: ProviderPolicy, _ dialect: AccessTokenDialect, sessionsRevokedAt revokedAt: UnixTime?,
    now: UnixTime
) throws(Rejection) -> UnixTime? {
    let mayLackIt = dialect.loadBalancer != nil && policy.maximumTokenAgeSeconds == nil && revokedAt == nil
    if mayLackIt, !claims.contains(.issuedAt) { return nil }
    let issuedAt = try checkIssuedAt(claims, policy, now: now)
    try checkTokenAge(issuedAt: issuedAt, policy, now: now)
    try checkSessionRevocation(claims, policy, after: revokedAt, issuedAt: issuedAt, now: now)
    return issuedAt
}
