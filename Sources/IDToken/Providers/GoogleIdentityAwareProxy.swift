private import JOSE

extension ProviderPreset {
    /// Assertions of Google's Identity-Aware Proxy, in `x-goog-iap-jwt-assertion`.
    ///
    /// The audience is a path, such as `/projects/123/global/backendServices/456`. `sub` is `accounts.google.com:` and
    /// the account's ID.
    /// - Source: docs.cloud.google.com/iap/docs/signed-headers-howto.
    public static let googleIdentityAwareProxy = ProviderPreset(
        name: "google-iap", summary: "Google Identity-Aware Proxy, assertions", issuer: "https://cloud.google.com/iap"
    ) { facts in
        facts.keys = .jwkSet("https://www.gstatic.com/iap/verify/public_key-jwk")
        facts.policy.algorithms = [.es256]
        facts.policy.reportsHostedDomain = true
        facts.accessTokens = .assertions(.gateway)
    }
}
