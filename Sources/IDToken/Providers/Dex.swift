extension ProviderPreset {
    /// Dex.
    ///
    /// Its access tokens have the same claims, audience and nonce as its ID Tokens. Only comparing the nonce, or
    /// checking the access token against `at_hash`, distinguishes a sign-in from a token that was sent to an API.
    /// - Source: github.com/dexidp/dex, `server/oauth2.go` (`newAccessToken`), `server/discovery.go`,
    ///   `cmd/dex/serve.go`.
    public static let dex = selfHosted(
        name: "dex", summary: "Dex", issuer: "https://<host>/dex"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.accessTokens = .unsupported(because: "nothing in them says that they are not ID Tokens")
    }
}
