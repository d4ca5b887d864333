extension ProviderPreset {
    /// Keycloak, one realm.
    ///
    /// Access and logout tokens are signed with the same keys. The claim `typ` (not the header's `typ`) tells them
    /// apart.
    /// - Source: keycloak.org, "Securing applications and services with OpenID Connect"; tokens in public repositories.
    public static let keycloak = selfHosted(
        name: "keycloak", summary: "Keycloak, one realm", issuer: "https://<host>/realms/<realm>"
    ) { $0.policy.claimRules = [ClaimRule(ClaimPath("typ"), .oneOf, ["ID"])] }
}
