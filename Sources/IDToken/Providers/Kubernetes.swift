extension ProviderPreset {
    /// Service accounts of a Kubernetes cluster: machines, with no person behind them.
    ///
    /// A pod names the audience of its projected token, so any pod of the cluster gets one for yours: a rule has to say which
    /// may.
    /// - Source: kubernetes.io/docs/tasks/configure-pod-container/configure-service-account, "Service account issuer discovery"
    ///   and "ServiceAccount token volume projection".
    public static let kubernetes = selfHosted(
        name: "kubernetes", summary: "service accounts of a Kubernetes cluster, those that claim_values names",
        issuer: "https://kubernetes.default.svc.cluster.local"
    ) { facts in
        facts.policy.issuesTokensOfSignIns = false
        facts.requireClaimRule(
            on: "sub", "/kubernetes.io/namespace", "/kubernetes.io/serviceaccount/uid",
            against: "every service account of the cluster")
    }
}
