private import JOSE

extension ProviderPreset {
    /// Sign in with Google.
    ///
    /// - Source: developers.google.com/identity/openid-connect/reference ("An ID token's payload");
    ///   developers.google.com/identity/gsi/web/guides/verify-google-id-token; for service accounts,
    ///   cloud.google.com/iam/docs/reference/credentials (`generateIdToken`).
    public static let google = ProviderPreset(
        name: "google", summary: "Sign in with Google, including Workspace accounts",
        issuer: "https://accounts.google.com",
        adviceOnAudience: { audience in
            // A client ID is a project's number, a hyphen, and letters and digits.
            let parts = audience.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, UInt64(parts[0]) != nil, PresetParameter.isWord(String(parts[1])) else {
                return nil
            }
            return "Google's client IDs end with .apps.googleusercontent.com: write all of it"
        }
    ) { facts in
        // Older flows still send it, and Google's documentation accepts both.
        facts.policy.issuerAliases = ["accounts.google.com"]
        // developers.google.com/identity/protocols/risc shows these spellings in its samples.
        facts.notificationIssuers = ["https://accounts.google.com/", "accounts.google.com"]
        facts.endpoints.authorization = "https://accounts.google.com/o/oauth2/v2/auth"
        facts.endpoints.token = "https://oauth2.googleapis.com/token"
        facts.quirks = [.refreshTokensStay]
        facts.policy.algorithms = [.rs256]
        facts.policy.email.authoritativeDomains = ["gmail.com", "googlemail.com"]
        facts.policy.email.trustsHostedDomain = true
        facts.policy.reportsHostedDomain = true
        // Service accounts get tokens for any audience they ask for. Their azp is their own number. Their addresses are
        // in iam.gserviceaccount.com, or, for accounts that Google creates, in developer. or
        // appspot.gserviceaccount.com.
        facts.policy.serviceAccounts.refusesAzpEqualToSub = true
        facts.policy.serviceAccounts.emailDomains = ["gserviceaccount.com"]
    }
}
