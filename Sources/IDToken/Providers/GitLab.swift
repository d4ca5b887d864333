private import JOSE

extension ProviderPreset {
    /// GitLab.com; for an instance of one's own, its URL as `issuer`.
    ///
    /// - Source: docs.gitlab.com/integration/openid_connect_provider.
    public static let gitLab = ProviderPreset(
        name: "gitlab", summary: "GitLab.com, or an instance of your own by its issuer", issuer: "https://gitlab.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        // Jobs of pipelines get tokens by the same keys, for whatever audience their author writes; this claim is theirs alone
        // (docs.gitlab.com/ci/secrets/id_token_authentication).
        facts.policy.claimRules = [ClaimRule(ClaimPath("ref_protected"), .noneOf, ["true", "false"])]
    }
}
