extension ProviderPreset {
    /// Zitadel. A token's audiences are all clients of the project and the project itself; `azp` is the one that asked.
    ///
    /// - Source: zitadel.com/docs/apis/openidoauth/claims.
    public static let zitadel = selfHosted(
        name: "zitadel", summary: "Zitadel, one instance", issuer: "https://<instance>"
    ) { facts in
        // Access tokens that are JWTs are for the same audience, and have none.
        facts.policy.requiredClaims = [.authTime]
    }
}
