private import JOSE

extension ProviderPreset {
    /// GitLab.com. For a self-managed instance, set `issuer` to its URL.
    ///
    /// - Source: docs.gitlab.com/integration/openid_connect_provider.
    public static let gitLab = ProviderPreset(
        name: "gitlab", summary: "GitLab.com; for a self-managed instance, set issuer", issuer: "https://gitlab.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        // CI jobs get tokens signed with the same keys, for any audience that their author chooses. Only those tokens
        // have this claim (docs.gitlab.com/ci/secrets/id_token_authentication).
        facts.policy.claimRules = [ClaimRule(ClaimPath("ref_protected"), .noneOf, ["true", "false"])]
    }
}
