private import JOSE

extension ProviderPreset {
    /// LINE Login from native apps and LIFF, whose tokens are signed with ES256.
    ///
    /// Tokens for web channels are signed with HS256 and the channel's secret. This is not supported: anyone who can
    /// verify them can also sign them.
    /// - Source: developers.line.biz/en/docs/line-login/verify-id-token.
    public static let line = ProviderPreset(
        name: "line",
        summary: "LINE Login from native apps and LIFF (ES256); tokens of web channels (HS256) are refused",
        issuer: "https://access.line.me"
    ) { facts in
        facts.keys = .jwkSet("https://api.line.me/oauth2/v2.1/certs")
        facts.endpoints.token = "https://api.line.me/oauth2/v2.1/token"
        facts.policy.algorithms = [.es256]
        facts.refusesBrowserSignIns = true
    }
}
