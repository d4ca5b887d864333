private import JOSE

extension ProviderPreset {
    /// Sign in with Google.
    ///
    /// - Source: developers.google.com/identity/openid-connect/reference ("An ID token's payload") and
    ///   developers.google.com/identity/gsi/web/guides/verify-google-id-token.
    public static let google = ProviderPreset(name: "google", issuer: "https://accounts.google.com") { policy in
        // Still sent by older flows; Google's own rules accept both.
        policy.issuerAliases = ["accounts.google.com"]
        policy.algorithms = [.rs256]
        policy.email.authoritativeDomains = ["gmail.com", "googlemail.com"]
        policy.email.trustsHostedDomain = true
    }
}
