extension ProviderPreset {
    /// Ory Network, or an Ory Hydra of one's own.
    ///
    /// Access tokens that are JWTs may be signed with keys of the same set: never ask for one whose audience is a client ID.
    /// - Source: ory.sh/docs/hydra/jwks.
    public static let ory = selfHosted(
        name: "ory", summary: "Ory Network or Ory Hydra", issuer: "https://<project>.projects.oryapis.com"
    ) { $0.policy.refusesAccessTokens = true }
}
