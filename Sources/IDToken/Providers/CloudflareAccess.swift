private import JOSE

extension ProviderPreset {
    /// Assertions of Cloudflare Access, in `Cf-Access-Jwt-Assertion`.
    ///
    /// The same keys sign the token of the user's whole session, whose `type` is `org`. A service token has an empty
    /// `sub`, and its name in `common_name`.
    /// - Source: developers.cloudflare.com/cloudflare-one/access-controls/applications/http-apps/authorization-cookie,
    ///   "Validate JWTs" and "Application token".
    public static let cloudflareAccess = ProviderPreset(
        name: "cloudflare-access", summary: "Cloudflare Access, assertions", parameters: [.team]
    ) { arguments in
        let issuer = "https://\(arguments[.team])"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/cdn-cgi/access/certs")
        facts.policy.algorithms = [.rs256]
        let serviceName = ClaimName("common_name")
        facts.accessTokens = .assertions(
            AccessTokenDialect(clientClaims: [serviceName]) {
                $0.requiresClient = false
                $0.serviceNameClaim = serviceName
                $0.claimRules = [ClaimRule(ClaimPath("type"), .oneOf, ["app"])]
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let team = host("the team domain, such as example.cloudflareaccess.com")
}
