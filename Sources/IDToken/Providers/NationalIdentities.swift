private import JOSE

extension ProviderPreset {
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
}

extension ProviderPreset {
    /// itsme (Belgium, the Netherlands and others).
    ///
    /// `email_verified` is always `false`, because itsme does not verify addresses. A client that authenticates by a secret
    /// may have another issuer: that of its own discovery document.
    /// - Source: belgianmobileid.github.io/doc: the address of the discovery document, and the claims. That the issuer is
    ///   the address without the well-known path is unsourced. The sandbox has another issuer.
    public static let itsme = ProviderPreset(
        name: "itsme", summary: "itsme; for the sandbox, set issuer", issuer: "https://idp.prd.itsme.services/v2"
    ) { _ in }
}

extension ProviderPreset {
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
}

extension ProviderPreset {
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
}
