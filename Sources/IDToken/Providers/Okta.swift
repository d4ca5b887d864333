extension ProviderPreset {
    /// Okta: the organization's own authorization server, or a custom one.
    ///
    /// ID Tokens only: Okta does not publish the keys of the organization's access tokens.
    /// - Source: developer.okta.com/docs/concepts/key-rotation and /docs/guides/validate-id-tokens; the path of custom
    ///   authorization servers is unsourced.
    public static let okta = ProviderPreset(
        name: "okta", summary: "Okta, the organization's authorization server or a custom one",
        parameters: [.oktaDomain, .authorizationServer]
    ) { arguments in
        let issuer = "https://\(arguments[.oktaDomain])"
        let server = arguments[PresetParameter.authorizationServer.name]
        return ProviderFacts(issuer: server.map { "\(issuer)/oauth2/\($0)" } ?? issuer)
    }
}

extension PresetParameter {
    fileprivate static let oktaDomain = host("the organization's domain, such as example.okta.com")
    fileprivate static let authorizationServer = word(
        "authorization_server", "the ID of a custom authorization server, such as default", isOptional: true)
}
