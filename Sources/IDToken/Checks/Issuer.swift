private import Bytes

/// Checks that the ID Token is from the provider whose keys verified it, and returns the canonical issuer.
///
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, step 2.
package func checkIssuer(_ claims: Claims, _ policy: ProviderPolicy) throws(Rejection) -> String {
    guard let issuer = try claims.utf8(.issuer) else { throw .claimMissing(.issuer) }
    if let templates = policy.issuerTemplates { return try checkTenant(of: issuer, claims, templates, policy.tenants) }
    guard policy.isIssuer(issuer) else { throw .issuerMismatch }
    return policy.issuer
}

/// Checks the issuer of a multi-tenant provider: it must match a template, its tenant must be allowed, and the token's
/// tenant claim must name the same tenant.
///
/// - Parameter templates: the canonical one first.
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/issuerMismatch``.
/// - Source: learn.microsoft.com/entra/identity-platform/access-tokens, "Validate the issuer".
private func checkTenant(
    of issuer: ArraySlice<UInt8>, _ claims: Claims, _ templates: [IssuerTemplate], _ rule: TenantRule
) throws(Rejection) -> String {
    for template in templates {
        guard let tenant = template.tenant(in: issuer) else { continue }
        guard let claimed = try claims.utf8(template.claim) else { throw .claimMissing(template.claim) }
        guard claimed.span.isExactly(tenant.span), rule.allows(tenant) else { throw .issuerMismatch }
        return templates[0].issuer(ofTenant: String(decoding: tenant, as: UTF8.self))
    }
    throw .issuerMismatch
}
