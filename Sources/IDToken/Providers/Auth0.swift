extension ProviderPreset {
    /// Auth0, one tenant or custom domain.
    ///
    /// - Source: Auth0's own samples: the issuer ends in a slash. Applications may be set to HS256 (unsourced), which
    ///   is not supported.
    public static let auth0 = ProviderPreset(
        name: "auth0", summary: "Auth0, one tenant or custom domain", parameters: [.auth0Domain]
    ) { arguments in
        var facts = ProviderFacts(issuer: "https://\(arguments[.auth0Domain])/")
        // Access tokens for an API follow RFC 9068, or an older profile with azp in place of client_id
        // (auth0.com/docs/secure/tokens/access-tokens/access-token-profiles). An ID Token with one audience has
        // neither.
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.clientID, .authorizedParty]) {
                $0.authorization.entitlements = ClaimPath("permissions")
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let auth0Domain = host("the tenant's domain, such as example.eu.auth0.com, or your own")
}
