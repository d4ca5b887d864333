extension ProviderPreset {
    /// Workflows of GitHub Actions: machines, with no person behind them to make a user of.
    ///
    /// - Source: docs.github.com/actions/reference/security/oidc. Repositories created after 2026-07-15 have another form of
    ///   `sub`; `repository_id` stays what it is.
    public static let gitHubActions = ProviderPreset(
        name: "github-actions", summary: "workflows of GitHub Actions"
    ) { _ in ProviderFacts(issuer: "https://token.actions.githubusercontent.com") }
}
