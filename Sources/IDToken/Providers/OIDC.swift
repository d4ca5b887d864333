extension ProviderPreset {
    /// Any OpenID Provider. Everything specific to it comes from the settings and its discovery document.
    ///
    /// - Source: OpenID Connect Core 1.0; OpenID Connect Discovery 1.0.
    public static let oidc = selfHosted(
        name: "oidc", summary: "any OpenID Provider, by its issuer", issuer: "https://<host>"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.accessTokens = .jwt(.rfc9068)
    }

    /// A self-hosted provider: each installation has its own issuer.
    ///
    /// - Parameter form: the form of such an issuer.
    static func selfHosted(
        name: String, summary: String, issuer form: String,
        adjust: @escaping @Sendable (inout ProviderFacts) -> Void = { _ in }
    ) -> ProviderPreset {
        let issuer = PresetParameter.issuer(form)
        return ProviderPreset(name: name, summary: summary, parameters: [issuer]) { arguments in
            var facts = ProviderFacts(issuer: arguments[issuer])
            adjust(&facts)
            return facts
        }
    }
}
