private import JOSE

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

extension ProviderPreset {
    /// Login.gov. Its tokens identify the user by subject only; everything else is in UserInfo. Every request has a
    /// nonce.
    ///
    /// - Source: developers.login.gov/oidc; the production issuer is unsourced. The sandbox has another issuer.
    public static let loginGov = ProviderPreset(
        name: "login.gov", summary: "Login.gov; for the sandbox, set issuer", issuer: "https://secure.login.gov/"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.nonce.isRequired = true
    }
}
