private import JOSE

extension ProviderPreset {
    /// Clerk: session tokens, without an audience and with the app's origins as authorized parties; or ID Tokens of its
    /// OAuth server, with client IDs as audiences.
    ///
    /// - Source: clerk.com/docs/backend-requests/resources/session-tokens and /manual-jwt.
    public static let clerk = ProviderPreset(
        name: "clerk", summary: "Clerk, session tokens (authorized_parties) or ID Tokens (audiences)",
        parameters: [.frontendAPI]
    ) { arguments in
        let issuer = "https://\(arguments[.frontendAPI])"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/.well-known/jwks.json")
        facts.policy.algorithms = [.rs256]
        facts.accessTokens = .noneBeside("session tokens")
        // A pending user must complete a step, such as choosing an organization, before being signed in.
        facts.policy.claimRules = [ClaimRule(ClaimPath("sts"), .noneOf, ["pending"])]
        return facts
    }
}

extension PresetParameter {
    fileprivate static let frontendAPI = host(
        "the host of the Frontend API, such as clerk.example.com or example.clerk.accounts.dev")
}
