extension ProviderPreset {
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
