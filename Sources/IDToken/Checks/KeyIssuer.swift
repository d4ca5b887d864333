private import Bytes

/// Checks that the key which verified the ID Token may sign for its issuer: a JWK may say, in a member `issuer`, whose it is.
///
/// Microsoft publishes the keys of all tenants in one set. Some are for any tenant, and name a template with the tenant in
/// braces; those of personal accounts name that one tenant's issuer. Without this check a key of one kind could sign for
/// the other.
///
/// - Parameter keyIssuer: the JWK's `issuer`; a key without one is for every issuer of the set.
/// - Throws: ``Rejection/issuerMismatch``; ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)`` for the claim that
///   names the tenant.
/// - Source: learn.microsoft.com/entra/identity-platform/access-tokens, "Validate the signing key's issuer".
func checkKeyIssuer(_ keyIssuer: String?, _ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    guard let keyIssuer else { return }
    for template in policy.keyIssuers {
        guard let tenant = try claims.string(template.claim) else { throw .claimMissing(template.claim) }
        if keyIssuer.isExactly(template.issuer(ofTenant: tenant)) { return }
        // Microsoft's placeholder is {tenantid}, whatever the claim's name.
        if let ofAnyTenant = IssuerTemplate(keyIssuer), ofAnyTenant.hasSameText(template) { return }
    }
    throw .issuerMismatch
}
