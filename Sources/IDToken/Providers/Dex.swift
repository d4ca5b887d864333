extension ProviderPreset {
    /// Dex.
    ///
    /// - Source: github.com/dexidp/dex, `server/tokens`, `server/discovery.go`, `cmd/dex/serve.go`.
    public static let dex = selfHosted(name: "dex", summary: "Dex", issuer: "https://<host>/dex")
}
