private import JOSE

extension ProviderPreset {
    /// Yahoo! JAPAN ID. Its metadata spells the issuer with a slash at the end, its documentation without.
    ///
    /// - Source: developer.yahoo.co.jp/yconnect/v2, by way of integrators' notes; the endpoints from its pages
    ///   `authorization_code/authorization.html`, `authorization_code/token.html` and `userinfo.html`.
    public static let yahooJapan = ProviderPreset(
        name: "yahoo-japan", summary: "Yahoo! JAPAN ID", issuer: "https://auth.login.yahoo.co.jp/yconnect/v2"
    ) { facts in
        facts.keys = .jwkSet("https://auth.login.yahoo.co.jp/yconnect/v2/jwks")
        facts.endpoints = ProviderEndpoints(
            authorization: "https://auth.login.yahoo.co.jp/yconnect/v2/authorization",
            token: "https://auth.login.yahoo.co.jp/yconnect/v2/token",
            userInfo: "https://userinfo.yahooapis.jp/yconnect/v2/attribute")
        facts.policy.issuerAliases = ["https://auth.login.yahoo.co.jp/yconnect/v2/"]
        facts.policy.algorithms = [.rs256]
    }
}
