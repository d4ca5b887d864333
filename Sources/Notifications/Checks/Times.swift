internal import IDToken

/// Checks the times without knowing whether the signature is valid.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/tokenExpired``,
///   ``Rejection/tokenNotYetValid``, ``Rejection/tokenTooOld``.
func checkNotificationTimes(
    _ claims: Claims, _ kind: NotificationKind, _ policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
) throws(Rejection) {
    if rules.mustExpire(kind) || claims.contains(.expiration) { _ = try checkExpiration(claims, policy, now: now) }
    _ = try checkNotBefore(claims, policy, now: now)
    let issuedAt = try checkIssuedAt(claims, policy, now: now)
    try checkNotificationAge(issuedAt: issuedAt, policy, rules, now: now)
}

/// Checks that the notification is not too old.
///
/// - Throws: ``Rejection/tokenTooOld``.
func checkNotificationAge(
    issuedAt: UnixTime, _ policy: ProviderPolicy, _ rules: NotificationRules, now: UnixTime
) throws(Rejection) {
    let oldest = issuedAt.advanced(bySeconds: rules.maximumAgeSeconds).advanced(bySeconds: policy.clockSkewSeconds)
    guard now <= oldest else { throw .tokenTooOld }
}

extension NotificationRules {
    /// Whether a notification must have `exp`. Only logout tokens must; Google's security events have none.
    package func mustExpire(_ kind: NotificationKind) -> Bool { kind == .logout && !logoutTokensMayLackExpiration }
}
