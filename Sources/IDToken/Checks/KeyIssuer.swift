private import Bytes

/// Checks that the key that verified the ID Token may sign for its issuer. A JWK may name its issuer in a member
/// `issuer`.
///
/// Microsoft publishes the keys of all tenants in one set. Some keys are for any tenant: their issuer is a template
/// with the tenant in braces. Keys for personal accounts name the issuer of that one tenant. Without this check, either
/// kind of key could sign for the other.
///
/// - Parameter keyIssuer: the JWK's `issuer`. A key without one may sign for every issuer of the set.
/// - Throws: ``Rejection/issuerMismatch``; ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)`` for the claim
///   that names the tenant.
/// - Source: learn.microsoft.com/entra/identity-platform/access-tokens, "Validate the signing key's issuer".
package func checkKeyIssuer(_ keyIssuer: String?, _ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) {
    guard let keyIssuer else { return }
    for template in policy.keyIssuers {
        guard let tenant = try claims.string(template.claim) else { throw .claimMissing(template.claim) }
        if keyIssuer.isExactly(template.issuer(ofTenant: tenant)) { return }
        // Microsoft's placeholder is {tenantid}, whatever the claim's name.
        if let ofAnyTenant = IssuerTemplate(keyIssuer), ofAnyTenant.hasSameText(template) { return }
    }
    throw .issuerMismatch
}
