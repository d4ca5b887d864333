private import JOSE

extension ProviderPreset {
    /// Twitch. Claims about the user are there only if the request's `claims` asked for them.
    ///
    /// - Source: dev.twitch.tv/docs/authentication/getting-tokens-oidc.
    public static let twitch = ProviderPreset(name: "twitch", summary: "Twitch") { _ in
        var facts = ProviderFacts(issuer: "https://id.twitch.tv/oauth2")
        facts.policy.algorithms = [.rs256]
        return facts
    }
}
