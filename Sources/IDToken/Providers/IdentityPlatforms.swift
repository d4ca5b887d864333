private import JOSE

extension ProviderPreset {
    /// The presets of this file.
    static let identityPlatforms: [ProviderPreset] = [
        .auth0, .clerk, .cognito, .okta, .salesforce, .supabase, .kinde, .workOSAuthKit,
    ]

    /// Auth0, one tenant or custom domain.
    ///
    /// - Source: Auth0's own samples: the issuer ends in a slash. Applications may be set to HS256 (unsourced), which
    ///   is not supported.
    public static let auth0 = ProviderPreset(
        name: "auth0", summary: "Auth0, one tenant or custom domain", parameters: [.auth0Domain]
    ) { arguments in
        var facts = ProviderFacts(issuer: "https://\(arguments[.auth0Domain])/")
        // Access tokens for an API follow RFC 9068, or an older profile with azp in place of client_id
        // (auth0.com/docs/secure/tokens/access-tokens/access-token-profiles). An ID Token with one audience has
        // neither.
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.clientID, .authorizedParty]) {
                $0.authorization.entitlements = ClaimPath("permissions")
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let auth0Domain = host("the tenant's domain, such as example.eu.auth0.com, or your own")
}

extension ProviderPreset {
    /// Clerk: session tokens, without an audience and with the app's origins as authorized parties; or ID Tokens of its
    /// OAuth server, with client IDs as audiences.
    ///
    /// - Source: clerk.com/docs/backend-requests/resources/session-tokens and /manual-jwt.
    public static let clerk = ProviderPreset(
        name: "clerk", summary: "Clerk, session tokens (authorized_parties) or ID Tokens (audiences)",
        parameters: [.frontendAPI]
    ) { arguments in
        let issuer = "https://\(arguments[.frontendAPI])"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/.well-known/jwks.json")
        facts.policy.algorithms = [.rs256]
        facts.accessTokens = .noneBeside("session tokens")
        // A pending user must complete a step, such as choosing an organization, before being signed in.
        facts.policy.claimRules = [ClaimRule(ClaimPath("sts"), .noneOf, ["pending"])]
        return facts
    }
}

extension PresetParameter {
    fileprivate static let frontendAPI = host(
        "the host of the Frontend API, such as clerk.example.com or example.clerk.accounts.dev")
}

extension ProviderPreset {
    /// Amazon Cognito, one user pool.
    ///
    /// Access tokens are signed with the same keys; `token_use` tells them apart.
    /// - Source: docs.aws.amazon.com/cognito/latest/developerguide, "Verifying JSON web tokens" and "Understanding the
    ///   identity (ID) token".
    public static let cognito = ProviderPreset(
        name: "cognito", summary: "Amazon Cognito, one user pool", parameters: [.pool]
    ) { arguments in
        let pool = arguments[.pool]
        let region = pool.prefix { $0 != "_" }
        var facts = ProviderFacts(issuer: "https://cognito-idp.\(region).amazonaws.com/\(pool)")
        facts.policy.algorithms = [.rs256]
        facts.policy.claimRules = [ClaimRule(ClaimPath("token_use"), .oneOf, ["id"])]
        facts.policy.identityClaims = [.preferredUsername: ClaimPath("cognito:username")]
        // Access tokens name the user in another claim, and have an audience only if the app asked for one.
        facts.accessTokens = .jwt(
            AccessTokenDialect {
                $0.claimRules = [ClaimRule(ClaimPath("token_use"), .oneOf, ["access"])]
                $0.authorization.groups = ClaimPath("cognito:groups")
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let pool = PresetParameter(
        "pool", "the user pool's ID, such as eu-west-1_AbCdEfGhI", placeholder: "<region>_<id>"
    ) { text in
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { isWord(String($0)) }
    }
}

extension ProviderPreset {
    /// Okta: the organization's own authorization server, or a custom one.
    ///
    /// Okta does not publish the keys of access tokens of the organization's server. Those of a custom server name the
    /// client in `cid`.
    /// - Source: developer.okta.com/docs/concepts/key-rotation and /docs/guides/validate-id-tokens; the path of custom
    ///   authorization servers is unsourced.
    public static let okta = ProviderPreset(
        name: "okta", summary: "Okta, the organization's authorization server or a custom one",
        parameters: [.oktaDomain, .authorizationServer]
    ) { arguments in
        let issuer = "https://\(arguments[.oktaDomain])"
        let server = arguments[PresetParameter.authorizationServer.name]
        var facts = ProviderFacts(issuer: server.map { "\(issuer)/oauth2/\($0)" } ?? issuer)
        facts.accessTokens =
            server == nil
            ? .unsupported(
                because: "Okta publishes keys only for those of custom servers, which authorization_server names")
            : .jwt(AccessTokenDialect(clientClaims: [ClaimName("cid")]))
        return facts
    }
}

extension PresetParameter {
    fileprivate static let oktaDomain = host("the organization's domain, such as example.okta.com")
    fileprivate static let authorizationServer = word(
        "authorization_server", "the ID of a custom authorization server, such as default", isOptional: true)
}

extension ProviderPreset {
    /// Salesforce, by its login host or a My Domain. The subject is a URL.
    ///
    /// - Source: a token in a public write-up; that the discovery document lies below the issuer is unsourced.
    public static let salesforce = ProviderPreset(
        name: "salesforce", summary: "Salesforce, by its login host or your My Domain", parameters: [.myDomain]
    ) { arguments in
        var facts = ProviderFacts(issuer: "https://\(arguments[.myDomain])")
        facts.accessTokens = .unsupported(because: "the form of its JWT access tokens is not documented")
        return facts
    }
}

extension PresetParameter {
    fileprivate static let myDomain = host(
        "the host that tokens name, such as example.my.salesforce.com or login.salesforce.com")
}

extension ProviderPreset {
    /// Supabase Auth, one project with asymmetric signing keys. Its access tokens identify the user.
    ///
    /// Projects that use the legacy shared secret sign with HS256 and publish no keys.
    /// - Source: supabase.com/docs/guides/auth/signing-keys, /jwts and /oauth-server/token-security.
    public static let supabase = ProviderPreset(
        name: "supabase", summary: "Supabase Auth, one project with signing keys", parameters: [.supabaseProject]
    ) { arguments in
        let issuer = "https://\(arguments[.supabaseProject]).supabase.co/auth/v1"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .jwkSet(issuer + "/.well-known/jwks.json")
        facts.policy.audiences = ["authenticated"]
        facts.accessTokens = .jwt(.supabase)
        facts.policy.algorithms = [.es256, .rs256]
        // Supabase's own SDK performs the sign-in, and its tokens have no nonce.
        facts.policy.issuesTokensOfSignIns = false
        // The project's OAuth server issues tokens with the same audience to third-party apps. Only those have this
        // claim.
        facts.policy.claimRules = [ClaimRule(ClaimPath("client_id"), .absent, [])]
        return facts
    }
}

extension AccessTokenDialect {
    fileprivate static var supabase: AccessTokenDialect {
        var dialect = singleKind
        dialect.authorization.roles = ClaimPath("role")
        return dialect
    }
}

extension PresetParameter {
    fileprivate static let supabaseProject = word("project", "the project's reference, the first part of its host name")
}

extension ProviderPreset {
    /// Kinde, one environment.
    ///
    /// Without a registered API, `aud` of access tokens is an empty list: `audiences: none` with `authorized_parties`.
    /// Tokens of machines have no `sub`, and are refused.
    /// - Source: docs.kinde.com/build/tokens/about-access-tokens, /about-id-tokens, and
    ///   /machine-to-machine-applications/about-m2m/token-structure-and-claims-for-m2m-applications; that `typ` is `JWT`
    ///   is unsourced.
    public static let kinde = ProviderPreset(
        name: "kinde", summary: "Kinde, one environment", parameters: [.kindeDomain]
    ) { arguments in
        var facts = ProviderFacts(issuer: "https://\(arguments[.kindeDomain])")
        facts.policy.refusesAccessTokens = true
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.authorizedParty]) {
                $0.idTokenClaims += [.authTime]
                $0.requiredClaims = [.shortScope]
                $0.authorization.entitlements = ClaimPath("permissions")
            })
        return facts
    }

    /// WorkOS AuthKit: the access tokens of a user's session.
    ///
    /// They have no `aud` (unless a JWT template adds it) and name no client. WorkOS signs the tokens of each client
    /// with keys of its own, so only their address separates its customers: never accept other keys.
    /// - Source: workos.com/docs/reference/authkit/session-tokens; github.com/workos/authkit-nextjs/issues/266 for `aud`;
    ///   github.com/workos/authkit-react-router/pull/85 and github.com/workos/authkit-tanstack-start/issues/45 for the
    ///   spellings of the issuer.
    public static let workOSAuthKit = ProviderPreset(
        name: "workos-authkit", summary: "WorkOS AuthKit, the sessions of one client", parameters: [.workOSClient]
    ) { arguments in
        let client = arguments[.workOSClient]
        var facts = ProviderFacts(issuer: "https://api.workos.com/user_management/\(client)")
        facts.policy.issuerAliases = ["https://api.workos.com", "https://api.workos.com/"]
        facts.policy.refusesAccessTokens = true
        facts.keys = .jwkSet("https://api.workos.com/sso/jwks/\(client)")
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: []) {
                $0.hasKeysOfOneClient = true
                $0.requiredClaims = [.sessionID]
                $0.authorization.entitlements = ClaimPath("permissions")
            })
        return facts
    }
}

extension PresetParameter {
    fileprivate static let kindeDomain = host("the environment's domain, such as example.kinde.com, or your own")
    fileprivate static let workOSClient = word(
        "client", "the client ID of the WorkOS environment, such as client_01H…", placeholder: "client_01H")
}
