private import JOSE

extension ProviderPreset {
    /// Facebook Limited Login, from apps on iOS.
    ///
    /// - Source: developers.facebook.com/docs/facebook-login/limited-login/token. Which of the three issuers the
    ///   discovery document names is unsourced, so the keys are pinned.
    public static let facebookLimitedLogin = ProviderPreset(
        name: "facebook-limited-login", summary: "Facebook Limited Login, from apps on iOS",
        issuer: "https://www.facebook.com"
    ) { facts in
        facts.keys = .jwkSet("https://limited.facebook.com/.well-known/oauth/openid/jwks/")
        facts.policy.issuerAliases = ["https://limited.facebook.com", "https://facebook.com"]
        facts.policy.algorithms = [.rs256]
        facts.refusesBrowserSignIns = true
    }
}
