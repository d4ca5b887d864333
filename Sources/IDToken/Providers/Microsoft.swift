private import Bytes
private import JOSE

extension ProviderPreset {
    /// The presets of this file.
    static let ofMicrosoft: [ProviderPreset] = [.microsoft, .microsoftVersion1, .entraExternal, .azureB2C]

    /// Microsoft Entra ID: work, school and personal accounts, with version 2.0 tokens.
    ///
    /// - Source: learn.microsoft.com/entra/identity-platform: "Access tokens" (issuers, `tid`, the keys' `issuer`,
    ///   `ver`), "ID token claims reference" (no `email_verified`), "Migrate away from using email claims"
    ///   (`xms_edov`).
    public static let microsoft = entra(
        name: "microsoft", summary: "Microsoft Entra ID: one tenant, common, organizations or consumers",
        version: "2.0", path: "/v2.0", issuer: issuerOfVersion2, keysOf: [issuerOfVersion2], .entraVersion2)

    /// Microsoft Entra ID with version 1.0 tokens, for apps that sign in at the older endpoint. Issuer and metadata
    /// differ from version 2.0; keys may name the issuer of version 2.0.
    ///
    /// - Source: as above; how the metadata of several tenants spells its issuer is unsourced.
    public static let microsoftVersion1 = entra(
        name: "microsoft-v1", summary: "Microsoft Entra ID, tokens of version 1.0", version: "1.0", path: "",
        issuer: issuerOfVersion1, keysOf: [issuerOfVersion1, issuerOfVersion2], .entraVersion1)

    /// - Parameters:
    ///   - path: of the version, in the addresses of the metadata and of the endpoints.
    ///   - issuer: a template, also of the metadata's issuer.
    private static func entra(
        name: String, summary: String, version: String, path: String, issuer: String, keysOf issuers: [String],
        _ dialect: AccessTokenDialect
    ) -> ProviderPreset {
        ProviderPreset(name: name, summary: summary, parameters: [.directory]) { arguments in
            let directory = EntraAuthority(name: arguments[.directory])
            let authority = "https://login.microsoftonline.com/\(directory.path)"
            var facts = ProviderFacts(issuer: issuer)
            facts.keys = .discovery(
                url: "\(authority)\(path)/.well-known/openid-configuration",
                issuer: issuer.replacing("{tid}", with: directory.issuerPart))
            facts.endpoints.authorization = "\(authority)/oauth2\(path)/authorize"
            facts.endpoints.token = "\(authority)/oauth2\(path)/token"
            facts.assertionAudience = .tokenEndpoint
            facts.policy.tenants = directory.tenants
            facts.policy.keyIssuers = issuers.compactMap(IssuerTemplate.init)
            facts.policy.algorithms = [.rs256]
            facts.policy.claimRules = [ClaimRule(ClaimPath("ver"), .oneOf, [version])] + [ClaimRule].noEntraAccessToken
            facts.policy.email.verification = .entra
            facts.accessTokens = .jwt(dialect)
            return facts
        }
    }

    private static let issuerOfVersion1 = "https://sts.windows.net/{tid}/"
    private static let issuerOfVersion2 = "https://login.microsoftonline.com/{tid}/v2.0"

    /// Microsoft Entra External ID, for customers.
    ///
    /// The issuer's host is the tenant's UUID, whatever name is used to request the metadata. The same tenant's
    /// metadata at login.microsoftonline.com has different keys.
    /// - Source: github.com/AzureAD/microsoft-authentication-library-for-js, issues 8592 and 8595. `xms_edov` is
    ///   unsourced here.
    public static let entraExternal = ProviderPreset(
        name: "entra-external", summary: "Microsoft Entra External ID", parameters: [.subdomain, .tenant]
    ) { arguments in
        let tenant = arguments[.tenant]
        let issuer = "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .discovery(
            url: "https://\(arguments[.subdomain]).ciamlogin.com/\(tenant)/v2.0/.well-known/openid-configuration",
            issuer: issuer)
        facts.policy.algorithms = [.rs256]
        facts.policy.claimRules = .noEntraAccessToken
        facts.policy.email.verification = .entra
        facts.accessTokens = .jwt(.entraVersion2)
        return facts
    }

    /// Azure AD B2C, one user flow or custom policy.
    ///
    /// All policies of a tenant share one issuer; `tfp` names the policy. The discovery document is not below the
    /// issuer.
    /// - Source: learn.microsoft.com/azure/active-directory-b2c/tokens-overview. That `emails` replaces `email` is
    ///   unsourced.
    public static let azureB2C = ProviderPreset(
        name: "azure-b2c", summary: "Azure AD B2C, one user flow", parameters: [.subdomain, .tenant, .policy]
    ) { arguments in
        let host = "https://\(arguments[.subdomain]).b2clogin.com"
        let issuer = "\(host)/\(arguments[.tenant])/v2.0/"
        let policy = arguments[.policy]
        var facts = ProviderFacts(issuer: issuer)
        facts.keys = .discovery(
            url: "\(host)/\(arguments[.subdomain]).onmicrosoft.com/\(policy)/v2.0/.well-known/openid-configuration",
            issuer: issuer)
        facts.policy.algorithms = [.rs256]
        // An app that is also an API gets access tokens of the same issuer, audience and policy. Only access tokens
        // have scp.
        facts.policy.claimRules = [
            ClaimRule(ClaimPath("tfp"), .oneOf, [policy]), ClaimRule(ClaimPath("scp"), .absent, []),
        ]
        facts.policy.identityClaims = [.email: ClaimPath("emails")]
        facts.accessTokens = .jwt(
            AccessTokenDialect(clientClaims: [.authorizedParty]) {
                $0.requiredClaims = [.shortScope]
                $0.claimRules = [ClaimRule(ClaimPath("tfp"), .oneOf, [policy])]
            })
        return facts
    }
}

extension EmailRule.Verification {
    /// A tenant's administrator can write any address into a user's profile. This claim says that the domain's owner
    /// verified it.
    static let entra = Self.claim(ClaimPath("xms_edov"))
}

extension [ClaimRule] {
    /// Access tokens for an app that is also an API have the same keys and audience as its ID Tokens. Only access
    /// tokens say how the client authenticated, in a claim that differs by version.
    ///
    /// - Source: learn.microsoft.com/entra/identity-platform/access-token-claims-reference.
    static var noEntraAccessToken: [ClaimRule] {
        ["azpacr", "appidacr"].map { ClaimRule(ClaimPath($0), .noneOf, ["0", "1", "2"]) }
    }
}

extension AccessTokenDialect {
    /// The version depends on the API's registration, not on the endpoint that the client used. Only access tokens say
    /// how the client authenticated.
    ///
    /// - Source: learn.microsoft.com/entra/identity-platform/access-token-claims-reference.
    static var entraVersion2: AccessTokenDialect {
        entra(version: "2.0", clientClaim: .authorizedParty, authenticationClaim: "azpacr")
    }

    static var entraVersion1: AccessTokenDialect {
        entra(version: "1.0", clientClaim: ClaimName("appid"), authenticationClaim: "appidacr")
    }

    private static func entra(
        version: String, clientClaim: ClaimName, authenticationClaim: String
    ) -> AccessTokenDialect {
        AccessTokenDialect(clientClaims: [clientClaim]) {
            $0.claimRules = [
                ClaimRule(ClaimPath("ver"), .oneOf, [version]),
                ClaimRule(ClaimPath(authenticationClaim), .oneOf, ["0", "1", "2"]),
            ]
        }
    }
}

/// What Microsoft calls an authority: one tenant, or a keyword for several.
private struct EntraAuthority {
    let name: String

    /// The tenant of all personal accounts.
    private static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"

    static let severalTenants: [String: TenantRule] = [
        "common": .any(except: []), "organizations": .any(except: [consumers]), "consumers": .only([consumers]),
    ]

    var tenants: TenantRule { Self.severalTenants[name] ?? .only([name]) }

    /// The authority's name in the metadata's URL.
    var path: String { tenants == .only([Self.consumers]) ? Self.consumers : name }

    /// The authority's name in the metadata's issuer.
    var issuerPart: String { if case .only(let tenants) = tenants { tenants[0] } else { "{tenantid}" } }
}

extension PresetParameter {
    fileprivate static let directory = PresetParameter(
        "tenant", "the tenant's UUID in lower case, or common, organizations or consumers", advice: adviceOnTenant
    ) { EntraAuthority.severalTenants[$0] != nil || $0.isLowercaseUUID }

    /// For the forms in which Microsoft's pages show a tenant.
    @Sendable static func adviceOnTenant(_ text: String) -> String? {
        if text.lowercased().isLowercaseUUID, !text.isLowercaseUUID {
            return "write it in lower case, as in its tokens"
        }
        guard isHost(text) else { return nil }
        return
            "tokens name a tenant by its UUID, not by a domain: find the UUID in the issuer of https://login.microsoftonline.com/\(text)/v2.0/.well-known/openid-configuration"
    }

    fileprivate static let policy = word("policy", "the name of the user flow, such as B2C_1_sign_in")

    /// The part before `.b2clogin.com` or `.ciamlogin.com`.
    static let subdomain = word("subdomain", "the first part of the tenant's host name")

    static let tenant = PresetParameter(
        "tenant", "the tenant's UUID in lower case", advice: adviceOnTenant, isWellFormed: \.isLowercaseUUID)
}
