private import JOSE

extension ProviderPreset {
    /// Sign in with Google.
    ///
    /// - Source: developers.google.com/identity/openid-connect/reference ("An ID token's payload") and
    ///   developers.google.com/identity/gsi/web/guides/verify-google-id-token.
    public static let google = ProviderPreset(name: "google", summary: "Sign in with Google, Workspace accounts too") {
        _ in
        var facts = ProviderFacts(issuer: "https://accounts.google.com")
        // Still sent by older flows; Google's own rules accept both.
        facts.policy.issuerAliases = ["accounts.google.com"]
        facts.policy.algorithms = [.rs256]
        facts.policy.email.authoritativeDomains = ["gmail.com", "googlemail.com"]
        facts.policy.email.trustsHostedDomain = true
        return facts
    }
}
