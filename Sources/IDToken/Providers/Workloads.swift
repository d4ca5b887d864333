extension ProviderPreset {
    /// The presets of this file.
    static let workloads: [ProviderPreset] = [.gitHubActions, .kubernetes]

    /// GitHub Actions workflows: tokens identify machines, not users.
    ///
    /// A workflow chooses the audience of its token, so any repository in the world can get one for yours. A rule must
    /// say which repositories are accepted. `job_workflow_ref` is not enough, since other repositories can call a
    /// public workflow.
    /// - Source: docs.github.com/actions/reference/security/oidc. Repositories created after 2026-07-15 have another
    ///   form of `sub`; `repository_id` does not change.
    public static let gitHubActions = ProviderPreset(
        name: "github-actions", summary: "GitHub Actions workflows that match claim_values",
        issuer: "https://token.actions.githubusercontent.com"
    ) { facts in
        facts.policy.issuesTokensOfSignIns = false
        facts.policy.maximumSubjectLength = ProviderPolicy.maximumWorkloadLength
        facts.accessTokens = .noneBeside("workflows' tokens")
        facts.requireClaimRule(
            on: "repository_owner_id", "repository_id", "repository_owner", "repository", "enterprise_id", "enterprise",
            "sub", against: "every repository at GitHub")
    }

    /// Service accounts of a Kubernetes cluster: tokens identify machines, not users.
    ///
    /// A pod chooses the audience of its projected token, so any pod of the cluster can get one for yours. A rule must
    /// say which service accounts are accepted.
    /// - Source: kubernetes.io/docs/tasks/configure-pod-container/configure-service-account, "Service account issuer
    ///   discovery" and "ServiceAccount token volume projection".
    public static let kubernetes = selfHosted(
        name: "kubernetes", summary: "Kubernetes service accounts that match claim_values",
        issuer: "https://kubernetes.default.svc.cluster.local"
    ) { facts in
        facts.policy.issuesTokensOfSignIns = false
        facts.policy.maximumSubjectLength = ProviderPolicy.maximumWorkloadLength
        facts.accessTokens = .jwt(.singleKind)
        facts.requireClaimRule(
            on: "sub", "/kubernetes.io/namespace", "/kubernetes.io/serviceaccount/uid",
            against: "every service account of the cluster")
    }
}
