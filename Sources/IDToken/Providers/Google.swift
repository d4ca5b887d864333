private import JOSE

extension ProviderPreset {
    /// Sign in with Google.
    ///
    /// - Source: developers.google.com/identity/openid-connect/reference ("An ID token's payload");
    ///   developers.google.com/identity/gsi/web/guides/verify-google-id-token; of service accounts,
    ///   cloud.google.com/iam/docs/reference/credentials (`generateIdToken`).
    public static let google = ProviderPreset(
        name: "google", summary: "Sign in with Google, Workspace accounts too", issuer: "https://accounts.google.com"
    ) { facts in
        // Still sent by older flows; Google's own rules accept both.
        facts.policy.issuerAliases = ["accounts.google.com"]
        facts.policy.algorithms = [.rs256]
        facts.policy.email.authoritativeDomains = ["gmail.com", "googlemail.com"]
        facts.policy.email.trustsHostedDomain = true
        facts.policy.reportsHostedDomain = true
        // A service account gets tokens for any audience it names. Its azp is its own number; its address is below
        // iam.gserviceaccount.com, or developer. or appspot. for the accounts that Google makes.
        facts.policy.serviceAccounts.refusesAzpEqualToSub = true
        facts.policy.serviceAccounts.emailDomains = ["gserviceaccount.com"]
    }
}
