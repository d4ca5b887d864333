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

extension ProviderPreset {
    /// Kakao Login. An app has one key per platform, and each key is a separate audience.
    ///
    /// - Source: developers.kakao.com/docs/latest/en/kakaologin/common, "OpenID Connect"; github.com/supabase,
    ///   discussion 23368.
    public static let kakao = ProviderPreset(
        name: "kakao", summary: "Kakao Login", issuer: "https://kauth.kakao.com"
    ) { facts in
        facts.policy.identityClaims = [.name: ClaimPath("nickname")]
    }
}

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

extension ProviderPreset {
    /// Sign in with LinkedIn using OpenID Connect. LinkedIn does not echo the nonce.
    ///
    /// - Source: learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2; the issuer
    ///   since April 2024 from github.com/keycloak/keycloak, issue 28686; the nonce from github.com/directus/directus,
    ///   issue 23645; the token type from the example of a token response on learn.microsoft.com/linkedin/shared/
    ///   authentication/authorization-code-flow.
    public static let linkedIn = ProviderPreset(
        name: "linkedin", summary: "Sign in with LinkedIn, which echoes no nonce",
        issuer: "https://www.linkedin.com/oauth"
    ) { facts in
        facts.policy.nonce.isChecked = false
        // Its token endpoint answers a code_verifier with an error.
        facts.usesPKCE = false
        facts.quirks = [.noTokenType]
    }
}

extension ProviderPreset {
    /// Sign in with Slack. A user belongs to one workspace.
    ///
    /// - Source: a copy of slack.com/.well-known/openid-configuration; the workspace's claim is unsourced.
    public static let slack = ProviderPreset(
        name: "slack", summary: "Sign in with Slack", issuer: "https://slack.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.identityClaims = [.tenant: ClaimPath("https://slack.com/team_id")]
    }
}

extension ProviderPreset {
    /// Twitch. Claims about the user are present only if the request's `claims` parameter asked for them.
    ///
    /// - Source: dev.twitch.tv/docs/authentication/getting-tokens-oidc (the token endpoint returns `scope` as a list).
    public static let twitch = ProviderPreset(
        name: "twitch", summary: "Twitch", issuer: "https://id.twitch.tv/oauth2"
    ) { facts in
        facts.quirks = [.scopeIsList]
        facts.policy.algorithms = [.rs256]
    }
}

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
