private import Bytes
private import JOSE

extension ProviderPreset {
    /// Azure AD B2C, one user flow or custom policy.
    ///
    /// All policies of a tenant share one issuer; `tfp` names the policy. The discovery document is not below the
    /// issuer.
    /// - Source: learn.microsoft.com/azure/active-directory-b2c/tokens-overview. That `emails` replaces `email` is
    ///   unsourced.
    public static let azureB2C = ProviderPreset(
        name: "azure-b2c", summary: "Azure AD B2C, one user flow", parameters: [.subdomain, .tenant, .policy]
    ) { arguments in
        let host = "https://\(arguments[.subdomain]).b2clogin.com"
        let issuer = "\(host)/\(arguments[.tenant])/v2.0/"
        let policy = arguments[.policy]
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .discovery(
            url: "\(host)/\(arguments[.subdomain]).onmicrosoft.com/\(policy)/v2.0/.well-known/openid-configuration",
            issuer: issuer)
        facts.policy.algorithms = [.rs256]
        // An app that is also an API gets access tokens of the same issuer, audience and policy. Only access tokens
        // have scp.
        facts.policy.claimRules = [
            ClaimRule(ClaimPath("tfp"), .oneOf, [policy]), ClaimRule(ClaimPath("scp"), .absent, []),
        ]
        facts.policy.identityClaims = [.email: ClaimPath("emails")]
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.authorizedParty]) {
                $0.requiredClaims = [.shortScope]
                $0.claimRules = [ClaimRule(ClaimPath("tfp"), .oneOf, [policy])]
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let policy = word("policy", "the name of the user flow, such as B2C_1_sign_in")

    /// The part before `.b2clogin.com` or `.ciamlogin.com`.
    static let subdomain = word("subdomain", "the first part of the tenant's host name")

    static let tenant = PresetParameter(
        "tenant", "the tenant's UUID in lower case", advice: adviceOnTenant, isWellFormed: \.isLowercaseUUID)
}
