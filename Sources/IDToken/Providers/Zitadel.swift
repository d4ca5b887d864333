extension ProviderPreset {
    /// Zitadel. A token's audiences are all clients of the project and the project itself; `azp` is the client that
    /// requested it.
    ///
    /// - Source: zitadel.com/docs/apis/openidoauth/claims.
    public static let zitadel = selfHosted(
        name: "zitadel", summary: "Zitadel, one instance", issuer: "https://<instance>"
    ) { facts in
        // JWT access tokens have the same audience, but no auth_time.
        facts.policy.requiredClaims = [.authTime]
    }
}
