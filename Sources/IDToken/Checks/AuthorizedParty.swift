private import Bytes

/// Checks `azp`, the party to which the ID Token was issued, against the configured parties, and returns it.
///
/// The claim must be a string if it is present. Its value is compared only if the settings name authorized parties: in
/// Google's tokens for Android, `azp` rightly differs from `aud`. Two other checks read `azp`:
/// ``checkAudience(_:_:narrowedTo:)`` in tokens with several audiences or none, and
/// ``checkServiceAccount(_:_:subject:)``. In access tokens, `checkClient` in `AccessTokens` reads it.
///
/// - Throws: ``Rejection/claimInvalid(_:)``, ``Rejection/authorizedPartyMismatch``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, steps 4 and 5, as relaxed by errata set 2.
func checkAuthorizedParty(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) -> String? {
    guard let authorizedParty = try claims.string(.authorizedParty) else { return nil }
    guard policy.authorizedParties.isEmpty || policy.authorizedParties.containsExactly(authorizedParty) else {
        throw .authorizedPartyMismatch
    }
    return authorizedParty
}
