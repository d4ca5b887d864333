extension ProviderPreset {
    /// Ory Network, or a self-hosted Ory Hydra.
    ///
    /// JWT access tokens may be signed with keys of the same set: never request one whose audience is a client ID.
    /// Logout tokens have neither `exp` nor `sub`.
    /// - Source: ory.sh/docs/hydra/jwks; github.com/ory/hydra, `consent/strategy_default.go`, for logout tokens.
    public static let ory = selfHosted(
        name: "ory", summary: "Ory Network or Ory Hydra", issuer: "https://<project>.projects.oryapis.com"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.logoutTokensLackExpiration = true
        facts.accessTokens = .jwt(AccessTokenDialect { $0.requiredClaims = [.tokenID, .shortScope] })
    }
}
