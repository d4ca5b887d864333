private import JOSE

extension ProviderPreset {
    /// Twitch. Claims about the user are present only if the request's `claims` parameter asked for them.
    ///
    /// - Source: dev.twitch.tv/docs/authentication/getting-tokens-oidc (the token endpoint returns `scope` as a list).
    public static let twitch = ProviderPreset(
        name: "twitch", summary: "Twitch", issuer: "https://id.twitch.tv/oauth2"
    ) { facts in
        facts.quirks = [.scopeIsList]
        facts.policy.algorithms = [.rs256]
    }
}
