extension ProviderPreset {
    /// Service accounts of a Kubernetes cluster: machines, with no person behind them.
    ///
    /// - Source: kubernetes.io/docs/tasks/configure-pod-container/configure-service-account, "Service account issuer discovery".
    public static let kubernetes = selfHosted(
        name: "kubernetes", summary: "service accounts of a Kubernetes cluster",
        issuer: "https://kubernetes.default.svc.cluster.local")
}
