extension ProviderPreset {
    /// Dex.
    ///
    /// Its access tokens are made as its ID Tokens are: same claims, same audience, same nonce. Only a nonce that the relying
    /// party compares, or the access token beside `at_hash`, tells a sign-in from a token that some API was sent.
    /// - Source: github.com/dexidp/dex, `server/oauth2.go` (`newAccessToken`), `server/discovery.go`, `cmd/dex/serve.go`.
    public static let dex = selfHosted(
        name: "dex", summary: "Dex", issuer: "https://<host>/dex"
    ) { $0.policy.refusesAccessTokens = true }
}
