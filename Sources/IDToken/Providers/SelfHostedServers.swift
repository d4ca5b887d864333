private import JOSE

extension ProviderPreset {
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
}

extension ProviderPreset {
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
