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

/// Checks that the ID Token was issued to this relying party, and returns `aud`.
///
/// At least one audience must be ours. With several, each must be ours or trusted, or `azp` must be present and ours:
/// OpenID Connect Core rejects "additional audiences not trusted by the Client".
///
/// A provider configured with authorized parties but without audiences issues tokens without an audience. Only `azp`
/// identifies their client, so it must be present.
///
/// - Parameter audience: if given, the only audience that counts as ours for this sign-in.
/// - Throws: ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/audienceMismatch``,
///   ``Rejection/audienceNotExpected``, ``Rejection/authorizedPartyMismatch``.
/// - Source: OpenID Connect Core 1.0, 3.1.3.7, steps 3 to 5.
func checkAudience(
    _ claims: Claims, _ policy: ProviderPolicy, narrowedTo audience: String?
) throws(Rejection) -> [String] {
    let audiences = try claims.audiences()
    if policy.audiences.isEmpty, !policy.authorizedParties.isEmpty {
        try checkOnlyAuthorizedParty(of: audiences, claims, policy)
        return audiences
    }
    guard !audiences.isEmpty else { throw .claimMissing(.audience) }
    var isAnyConfigured = false
    var isEachTrusted = true
    for candidate in audiences {
        let isConfigured = policy.isConfiguredAudience(candidate, narrowedTo: audience)
        isAnyConfigured = isAnyConfigured || isConfigured
        isEachTrusted = isEachTrusted && (isConfigured || policy.trustedAudiences.containsExactly(candidate))
    }
    guard isAnyConfigured else {
        throw audiences.contains(where: policy.audiences.containsExactly) ? .audienceNotExpected : .audienceMismatch
    }
    if audiences.count > 1, !isEachTrusted {
        guard let authorizedParty = try claims.string(.authorizedParty) else { throw .audienceMismatch }
        guard
            policy.isConfiguredAudience(authorizedParty, narrowedTo: audience)
                || policy.authorizedParties.containsExactly(authorizedParty)
        else { throw .authorizedPartyMismatch }
    }
    return audiences
}

extension ProviderPolicy {
    /// Whether a client ID belongs to this relying party.
    fileprivate func isConfiguredAudience(_ candidate: String, narrowedTo audience: String?) -> Bool {
        audiences.containsExactly(candidate) && audience.map { candidate.isExactly($0) } ?? true
    }
}

/// Checks a token that has no audience by design. In Clerk's session tokens, `azp` is the origin that requested the
/// token.
///
/// - Throws: ``Rejection/audienceMismatch`` if the token has an audience, since it can't be ours;
///   ``Rejection/claimMissing(_:)``, ``Rejection/claimInvalid(_:)``, ``Rejection/authorizedPartyMismatch``.
private func checkOnlyAuthorizedParty(
    of audiences: [String], _ claims: Claims, _ policy: ProviderPolicy
) throws(Rejection) {
    guard audiences.isEmpty else { throw .audienceMismatch }
    guard let authorizedParty = try claims.string(.authorizedParty) else { throw .claimMissing(.authorizedParty) }
    guard policy.authorizedParties.containsExactly(authorizedParty) else { throw .authorizedPartyMismatch }
}

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
