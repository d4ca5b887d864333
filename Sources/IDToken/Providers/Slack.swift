private import JOSE

extension ProviderPreset {
    /// Sign in with Slack. A user belongs to one workspace.
    ///
    /// - Source: a copy of slack.com/.well-known/openid-configuration; the workspace's claim is unsourced.
    public static let slack = ProviderPreset(
        name: "slack", summary: "Sign in with Slack", issuer: "https://slack.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.identityClaims = [.tenant: ClaimPath("https://slack.com/team_id")]
    }
}
