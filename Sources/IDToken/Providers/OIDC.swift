extension ProviderPreset {
    /// Any OpenID Provider: everything else comes from the settings and its discovery document.
    ///
    /// - Source: OpenID Connect Core 1.0; OpenID Connect Discovery 1.0.
    public static let oidc = ProviderPreset(name: "oidc", issuer: nil)
}
