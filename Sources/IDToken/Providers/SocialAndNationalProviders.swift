private import JOSE

extension ProviderPreset {
    /// The presets of this file.
    static let socialAndNational: [ProviderPreset] = [
        .facebookLimitedLogin, .kakao, .line, .linkedIn, .slack, .twitch, .yahooJapan, .singpass, .itsme, .eSignet,
        .proConnect, .loginGov,
    ]

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

    /// Kakao Login. An app has one key per platform, and each key is a separate audience.
    ///
    /// - Source: developers.kakao.com/docs/latest/en/kakaologin/common, "OpenID Connect"; github.com/supabase,
    ///   discussion 23368.
    public static let kakao = ProviderPreset(
        name: "kakao", summary: "Kakao Login", issuer: "https://kauth.kakao.com"
    ) { facts in
        facts.policy.identityClaims = [.name: ClaimPath("nickname")]
    }

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

    /// Sign in with Slack. A user belongs to one workspace.
    ///
    /// - Source: a copy of slack.com/.well-known/openid-configuration; the workspace's claim is unsourced.
    public static let slack = ProviderPreset(
        name: "slack", summary: "Sign in with Slack", issuer: "https://slack.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.identityClaims = [.tenant: ClaimPath("https://slack.com/team_id")]
    }

    /// Twitch. Claims about the user are present only if the request's `claims` parameter asked for them.
    ///
    /// - Source: dev.twitch.tv/docs/authentication/getting-tokens-oidc (the token endpoint returns `scope` as a list).
    public static let twitch = ProviderPreset(
        name: "twitch", summary: "Twitch", issuer: "https://id.twitch.tv/oauth2"
    ) { facts in
        facts.quirks = [.scopeIsList]
        facts.policy.algorithms = [.rs256]
    }

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

    /// Singpass (Singapore): its FAPI 2.0 API, which all apps must use by the end of 2026.
    ///
    /// ID Tokens and UserInfo are encrypted to a key of `client_keys`. `sub` is a UUID; names and addresses are in
    /// `sub_attributes`, whose members' names are unsourced.
    /// - Source: docs.developer.singpass.gov.sg, "FAPI 2.0 Authentication API", integration guide, "Parsing the ID Token"
    ///   (the issuer, the claims, the nonce) and "OpenID Discovery Endpoint" of the older API (ES256). That the discovery
    ///   document is below the issuer is unsourced. The staging environment has another issuer.
    public static let singpass = ProviderPreset(
        name: "singpass", summary: "Singpass, FAPI 2.0; for staging, set issuer",
        issuer: "https://id.singpass.gov.sg/fapi"
    ) { facts in
        facts.policy.algorithms = [.es256]
        facts.policy.nonce.isRequired = true
    }

    /// itsme (Belgium, the Netherlands and others).
    ///
    /// `email_verified` is always `false`, because itsme does not verify addresses. A client that authenticates by a secret
    /// may have another issuer: that of its own discovery document.
    /// - Source: belgianmobileid.github.io/doc: the address of the discovery document, and the claims. That the issuer is
    ///   the address without the well-known path is unsourced. The sandbox has another issuer.
    public static let itsme = ProviderPreset(
        name: "itsme", summary: "itsme; for the sandbox, set issuer", issuer: "https://idp.prd.itsme.services/v2"
    ) { _ in }

    /// eSignet (MOSIP), one installation.
    ///
    /// Access tokens have the same keys and the same audience, the client's ID, but no access token's hash, which each ID
    /// Token has. ID Tokens live for a minute.
    /// - Source: github.com/mosip/esignet, `TokenServiceImpl.java`; the form of the issuer is unsourced.
    public static let eSignet = selfHosted(
        name: "esignet", summary: "eSignet (MOSIP), one installation", issuer: "https://<host>/v1/esignet"
    ) { facts in
        facts.policy.requiredClaims = [.accessTokenHash]
        facts.accessTokens = .unsupported(
            because: "their audience is the client's ID, since they are for eSignet's own UserInfo endpoint")
    }

    /// ProConnect (France, for professionals; formerly AgentConnect).
    ///
    /// It refuses an authorization request with parameters that it does not know, those of PKCE among them. Names and
    /// addresses are in UserInfo, which is signed; `usual_name` is the family name. Clients that are registered with HS256
    /// are not supported.
    /// - Source: github.com/numerique-gouv/proconnect-documentation, `doc_fs/implementation_technique.md` (parameters,
    ///   nonce, algorithms, UserInfo) and `doc_fs/scope-claims.md`; the address of the discovery document from
    ///   `doc_fs/recette_fca/recette_cles_prod.md`. That the issuer is that address without the well-known path is sourced
    ///   for the integration environment, by an ID Token in the same documentation.
    public static let proConnect = ProviderPreset(
        name: "proconnect", summary: "ProConnect, on the Internet; for integration, set issuer",
        issuer: "https://auth.agentconnect.gouv.fr/api/v2"
    ) { facts in
        facts.policy.algorithms = [.rs256, .es256]
        facts.policy.nonce.isRequired = true
        facts.policy.identityClaims = [.familyName: ClaimPath("usual_name")]
        facts.usesPKCE = false
    }

    /// Login.gov. Its tokens identify the user by subject only; everything else is in UserInfo. Every request has a
    /// nonce.
    ///
    /// - Source: developers.login.gov/oidc; the production issuer is unsourced. The sandbox has another issuer.
    public static let loginGov = ProviderPreset(
        name: "login.gov", summary: "Login.gov; for the sandbox, set issuer", issuer: "https://secure.login.gov/"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        facts.policy.nonce.isRequired = true
    }
}
