/// Checks that the ID Token is from the provider whose keys verified it.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 2.
func checkIssuer(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    guard let issuer = try claims.utf8(.issuer) else { throw .claimMissing(.issuer) }
    guard policy.isIssuer(issuer) else { throw .issuerMismatch }
}
