private import JOSE

extension ProviderPreset {
    /// Microsoft Entra External ID, for customers.
    ///
    /// The issuer's host is the tenant's UUID, whatever name is used to request the metadata. The same tenant's
    /// metadata at login.microsoftonline.com has different keys.
    /// - Source: github.com/AzureAD/microsoft-authentication-library-for-js, issues 8592 and 8595. `xms_edov` is
    ///   unsourced here.
    public static let entraExternal = ProviderPreset(
        name: "entra-external", summary: "Microsoft Entra External ID", parameters: [.subdomain, .tenant]
    ) { arguments in
        let tenant = arguments[.tenant]
        let issuer = "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .discovery(
            url: "https://\(arguments[.subdomain]).ciamlogin.com/\(tenant)/v2.0/.well-known/openid-configuration",
            issuer: issuer)
        facts.policy.algorithms = [.rs256]
        facts.policy.claimRules = .noEntraAccessToken
        facts.policy.email.verification = .entra
        facts.accessTokens = .jwt(.entraVersion2)
        return facts
    }
}
