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
        // They have a jti, which ID Tokens lack. Whether every version names the client is unsourced.
        facts.accessTokens = .jwt(
            AccessTokenDialect {
                $0.requiresClient = false
                $0.idTokenClaims += [.authTime]
                $0.requiredClaims = [.tokenID]
                $0.authorization.roles = ClaimPath("urn:zitadel:iam:org:project:roles")
            })
    }
}
