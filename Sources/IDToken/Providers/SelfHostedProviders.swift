private import JOSE

extension ProviderPreset {
    /// The presets of this file.
    static let selfHostedProviders: [ProviderPreset] = [
        .oidc, .dex, .gitLab, .keycloak, .ory, .zitadel, .authentik, .springAuthorizationServer,
    ]

    /// Any OpenID Provider. Everything specific to it comes from the settings and its discovery document.
    ///
    /// - Source: OpenID Connect Core 1.0; OpenID Connect Discovery 1.0.
    public static let oidc = selfHosted(
        name: "oidc", summary: "any OpenID Provider, by its issuer", issuer: "https://<host>"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.accessTokens = .jwt(.rfc9068)
    }

    /// A self-hosted provider: each installation has its own issuer.
    ///
    /// - Parameter form: the form of such an issuer.
    static func selfHosted(
        name: String, summary: String, issuer form: String,
        adjust: @escaping @Sendable (inout ProviderFacts) -> Void = { _ in }
    ) -> ProviderPreset {
        let issuer = PresetParameter.issuer(form)
        return ProviderPreset(name: name, summary: summary, parameters: [issuer]) { arguments in
            var facts = ProviderFacts(issuer: arguments[issuer])
            adjust(&facts)
            return facts
        }
    }

    /// Dex.
    ///
    /// Its access tokens have the same claims, audience and nonce as its ID Tokens. Only comparing the nonce, or
    /// checking the access token against `at_hash`, distinguishes a sign-in from a token that was sent to an API.
    /// - Source: github.com/dexidp/dex, `server/oauth2.go` (`newAccessToken`), `server/discovery.go`,
    ///   `cmd/dex/serve.go`.
    public static let dex = selfHosted(
        name: "dex", summary: "Dex", issuer: "https://<host>/dex"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.accessTokens = .unsupported(because: "nothing in them says that they are not ID Tokens")
    }

    /// GitLab.com. For a self-managed instance, set `issuer` to its URL.
    ///
    /// - Source: docs.gitlab.com/integration/openid_connect_provider.
    public static let gitLab = ProviderPreset(
        name: "gitlab", summary: "GitLab.com; for a self-managed instance, set issuer", issuer: "https://gitlab.com"
    ) { facts in
        facts.policy.algorithms = [.rs256]
        // CI jobs get tokens signed with the same keys, for any audience that their author chooses. Only those tokens
        // have this claim (docs.gitlab.com/ci/secrets/id_token_authentication).
        facts.policy.claimRules = [ClaimRule(ClaimPath("ref_protected"), .noneOf, ["true", "false"])]
    }

    /// Keycloak, one realm.
    ///
    /// Access and logout tokens are signed with the same keys. The claim `typ` (not the header's `typ`) tells them
    /// apart.
    /// - Source: keycloak.org, "Securing applications and services with OpenID Connect"; tokens in public repositories.
    public static let keycloak = selfHosted(
        name: "keycloak", summary: "Keycloak, one realm", issuer: "https://<host>/realms/<realm>"
    ) { facts in
        facts.policy.claimRules = [ClaimRule(ClaimPath("typ"), .oneOf, ["ID"])]
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.authorizedParty]) {
                // Older versions copy the nonce into access tokens.
                $0.idTokenClaims = [.accessTokenHash, .codeHash]
                $0.claimRules = [ClaimRule(ClaimPath("typ"), .oneOf, ["Bearer"])]
                $0.authorization.roles = ClaimPath("/realm_access/roles")
            })
    }

    /// Ory Network, or a self-hosted Ory Hydra.
    ///
    /// JWT access tokens may be signed with keys of the same set: never request one whose audience is a client ID.
    /// Logout tokens have neither `exp` nor `sub`.
    /// - Source: ory.sh/docs/hydra/jwks; github.com/ory/hydra, `consent/strategy_default.go`, for logout tokens.
    public static let ory = selfHosted(
        name: "ory", summary: "Ory Network or Ory Hydra", issuer: "https://<project>.projects.oryapis.com"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.logoutTokensLackExpiration = true
        facts.accessTokens = .jwt(AccessTokenDialect { $0.requiredClaims = [.tokenID, .shortScope] })
    }

    /// Zitadel. A token's audiences are all clients of the project and the project itself; `azp` is the client that
    /// requested it.
    ///
    /// - Source: zitadel.com/docs/apis/openidoauth/claims.
    public static let zitadel = selfHosted(
        name: "zitadel", summary: "Zitadel, one instance", issuer: "https://<instance>"
    ) { facts in
        // JWT access tokens have the same audience, but no auth_time.
        facts.policy.requiredClaims = [.authTime]
        // They have a jti, which ID Tokens lack. Whether every version names the client is unsourced.
        facts.accessTokens = .jwt(
            AccessTokenDialect {
                $0.requiresClient = false
                $0.idTokenClaims += [.authTime]
                $0.requiredClaims = [.tokenID]
                $0.authorization.roles = ClaimPath("urn:zitadel:iam:org:project:roles")
            })
    }

    /// authentik, one application.
    ///
    /// Its access tokens are its ID Tokens with two more claims, and have the same audience, the client's ID, and the
    /// same nonce. Only ID Tokens have the access token's hash.
    /// - Source: github.com/goauthentik/authentik, `authentik/providers/oauth2/id_token.py` (`to_access_token`) and
    ///   `views/token.py`; the form of the issuer is unsourced.
    public static let authentik = selfHosted(
        name: "authentik", summary: "authentik, one application", issuer: "https://<host>/application/o/<app>/"
    ) { facts in
        facts.policy.requiredClaims = [.accessTokenHash]
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.authorizedParty]) {
                $0.idTokenClaims = [.accessTokenHash]
                $0.requiredClaims = [ClaimName("uid")]
            })
    }

    /// Spring Authorization Server.
    ///
    /// Unless the server's own code changes that, `aud` of both kinds of token is the client's ID, and no other claim of
    /// access tokens names it. ID Tokens have `azp`, and no `scope`. The header has no `typ`.
    /// - Source: github.com/spring-projects/spring-authorization-server, `JwtGenerator.java`.
    public static let springAuthorizationServer = selfHosted(
        name: "spring-authorization-server", summary: "Spring Authorization Server", issuer: "https://<host>"
    ) { facts in
        facts.policy.refusesAccessTokens = true
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: []) {
                $0.idTokenClaims += [.authorizedParty]
                $0.requiredClaims = [.scope]
            })
    }
}
