private import JOSE

extension ProviderPreset {
    /// Sign in with Google.
    ///
    /// - Source: developers.google.com/identity/openid-connect/reference ("An ID token's payload") and
    ///   developers.google.com/identity/gsi/web/guides/verify-google-id-token.
    public static let google: ProviderPreset = {
        var preset = ProviderPreset(name: "google", issuer: "https://accounts.google.com")
        // Still sent by older flows; Google's own rules accept both.
        preset.issuerAliases = ["accounts.google.com"]
        preset.algorithms = [.rs256]
        preset.email.authoritativeDomains = ["gmail.com", "googlemail.com"]
        preset.email.trustsHostedDomain = true
        return preset
    }()
}
