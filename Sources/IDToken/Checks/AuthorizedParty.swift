private import Bytes

/// Checks `azp`, the party the ID Token was issued to, against the configured ones, and returns it.
///
/// Only where the settings name authorized parties, and only where the claim is there: Google's tokens for Android have
/// an `azp` that differs from `aud`, as they should. What `azp` means beside several audiences is ``checkAudience(_:_:narrowedTo:)``'s.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/authorizedPartyMismatch``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, steps 4 and 5, as softened by errata set 2.
func checkAuthorizedParty(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) -> String? {
    guard let authorizedParty = try claims.string(.authorizedParty) else { return nil }
    guard policy.authorizedParties.isEmpty || policy.authorizedParties.containsExactly(authorizedParty) else {
        throw .authorizedPartyMismatch
    }
    return authorizedParty
}
