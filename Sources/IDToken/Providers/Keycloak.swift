extension ProviderPreset {
    /// Keycloak, one realm.
    ///
    /// Access and logout tokens are signed with the same keys. The claim `typ` (not the header's `typ`) tells them
    /// apart.
    /// - Source: keycloak.org, "Securing applications and services with OpenID Connect"; tokens in public repositories.
    public static let keycloak = selfHosted(
        name: "keycloak", summary: "Keycloak, one realm", issuer: "https://<host>/realms/<realm>"
    ) { facts in
        facts.policy.claimRules = [ClaimRule(ClaimPath("typ"), .oneOf, ["ID"])]
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.authorizedParty]) {
                // Older versions copy the nonce into access tokens.
                $0.idTokenClaims = [.accessTokenHash, .codeHash]
                $0.claimRules = [ClaimRule(ClaimPath("typ"), .oneOf, ["Bearer"])]
                $0.authorization.roles = ClaimPath("/realm_access/roles")
            })
    }
}
