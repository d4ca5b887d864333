private import JOSE

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
}

extension ProviderPreset {
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
