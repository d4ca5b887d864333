private import JOSE

extension ProviderPreset {
    /// Assertions of Pomerium, in `X-Pomerium-Jwt-Assertion`, for one route.
    ///
    /// The issuer and the audience are the route's host. With `jwt_issuer_format: uri`, the issuer is a URL.
    /// - Source: pomerium.com/docs/capabilities/getting-users-identity and /docs/reference/jwt-issuer-format.
    public static let pomerium = ProviderPreset(
        name: "pomerium", summary: "Pomerium, assertions for one route", parameters: [.route]
    ) { arguments in
        let host = arguments[.route]
        var facts = ProviderFacts(issuer: host)
        facts.keys = .jwkSet("https://\(host)/.well-known/pomerium/jwks.json")
        facts.policy.issuerAliases = ["https://\(host)/"]
        facts.policy.audiences = [host]
        facts.policy.algorithms = [.es256]
        facts.accessTokens = .assertions(.gateway)
        return facts
    }
}

extension PresetParameter {
    fileprivate static let route = host("the host of the route, such as app.example.com")
}
