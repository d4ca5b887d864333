private import JOSE

extension ProviderPreset {
    /// LINE Login from native apps and LIFF, which get tokens by ES256.
    ///
    /// Web channels get tokens by HS256 with the channel's secret, which is not supported: a secret that verifies also signs.
    /// - Source: developers.line.biz/en/docs/line-login/verify-id-token.
    public static let line = ProviderPreset(
        name: "line",
        summary: "LINE Login from native apps and LIFF (ES256); tokens of web channels (HS256) are refused",
        issuer: "https://access.line.me"
    ) { facts in
        facts.keys = .jwkSet("https://api.line.me/oauth2/v2.1/certs")
        facts.policy.algorithms = [.es256]
    }
}
