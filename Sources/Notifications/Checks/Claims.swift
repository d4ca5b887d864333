private import Bytes
internal import IDToken

/// Checks the issuer, and returns the provider's canonical one.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
func checkNotificationIssuer(
    _ claims: Claims, _ policy: ProviderPolicy, _ rules: NotificationRules
) throws(Rejection) -> String {
    if let issuer = claims.text(.issuer), rules.issuers.containsExactly(issuer) { return policy.issuer }
    return try checkIssuer(claims, policy)
}

/// Checks that one audience is ours. Others may receive the same notification.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``.
func checkNotificationAudience(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    let audiences = try claims.audiences()
    guard !audiences.isEmpty else { throw .claimMissing(.audience) }
    guard audiences.contains(where: policy.audiences.containsExactly) else { throw .audienceMismatch }
}

/// Checks `jti`, and returns it. Recipients recognize repeated deliveries by it.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``.
func checkNotificationID(_ claims: Claims) throws(Rejection) -> String {
    guard let id = try claims.string(.tokenID), !id.isEmpty else { throw .claimMissing(.tokenID) }
    return id
}

/// Checks that there is no `nonce`: an ID Token must not pass as a notification.
///
/// - Throws: ``Rejection/claimInvalid(_:)``.
/// - Source: OpenID Connect Back-Channel Logout 1.0, section 2.4.
func checkNoNonce(_ claims: Claims) throws(Rejection) {
    guard !claims.contains(.nonce) else { throw .claimInvalid(.nonce) }
}
