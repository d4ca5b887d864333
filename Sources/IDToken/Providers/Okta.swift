extension ProviderPreset {
    /// Okta: the organization's own authorization server, or a custom one.
    ///
    /// Okta does not publish the keys of access tokens of the organization's server. Those of a custom server name the
    /// client in `cid`.
    /// - Source: developer.okta.com/docs/concepts/key-rotation and /docs/guides/validate-id-tokens; the path of custom
    ///   authorization servers is unsourced.
    public static let okta = ProviderPreset(
        name: "okta", summary: "Okta, the organization's authorization server or a custom one",
        parameters: [.oktaDomain, .authorizationServer]
    ) { arguments in
        let issuer = "https://\(arguments[.oktaDomain])"
        let server = arguments[PresetParameter.authorizationServer.name]
        var facts = ProviderFacts(issuer: server.map { "\(issuer)/oauth2/\($0)" } ?? issuer)
        facts.accessTokens =
            server == nil
            ? .unsupported(
                because: "Okta publishes keys only for those of custom servers, which authorization_server names")
            : .jwt(AccessTokenDialect(clientClaims: [ClaimName("cid")]))
        return facts
    }
}

extension PresetParameter {
    fileprivate static let oktaDomain = host("the organization's domain, such as example.okta.com")
    fileprivate static let authorizationServer = word(
        "authorization_server", "the ID of a custom authorization server, such as default", isOptional: true)
}
