extension ProviderPreset {
    /// Workflows of GitHub Actions: machines, with no person behind them to make a user of.
    ///
    /// A workflow names the audience of its token, so any repository in the world gets one for yours: a rule has to say which
    /// may. `job_workflow_ref` is no such rule, since other repositories can call a workflow that is public.
    /// - Source: docs.github.com/actions/reference/security/oidc. Repositories created after 2026-07-15 have another form of
    ///   `sub`; `repository_id` stays what it is.
    public static let gitHubActions = ProviderPreset(
        name: "github-actions", summary: "workflows of GitHub Actions, those that claim_values names",
        issuer: "https://token.actions.githubusercontent.com"
    ) { facts in
        facts.policy.issuesTokensOfSignIns = false
        facts.requireClaimRule(
            on: "repository_owner_id", "repository_id", "repository_owner", "repository", "enterprise_id", "enterprise",
            "sub", against: "every repository at GitHub")
    }
}
