private import JOSE

extension ProviderPreset {
    /// Sign in with Slack. A user belongs to one workspace.
    ///
    /// - Source: slack.com/.well-known/openid-configuration, as stored; the claim of the workspace is unsourced.
    public static let slack = ProviderPreset(
        name: "slack", summary: "Sign in with Slack", issuer: "https://slack.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.identityClaims = [.tenant: ClaimPath("https://slack.com/team_id")]
    }
}
