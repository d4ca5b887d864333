extension ProviderPreset {
    /// Auth0, one tenant or custom domain.
    ///
    /// - Source: Auth0's own samples: the issuer ends in a slash. Applications may be set to HS256 (unsourced), which
    ///   is not supported.
    public static let auth0 = ProviderPreset(
        name: "auth0", summary: "Auth0, one tenant or custom domain", parameters: [.auth0Domain]
    ) { arguments in
        ProviderFacts(issuer: "https://\(arguments[.auth0Domain])/")
    }
}

extension PresetParameter {
    fileprivate static let auth0Domain = host("the tenant's domain, such as example.eu.auth0.com, or your own")
}
