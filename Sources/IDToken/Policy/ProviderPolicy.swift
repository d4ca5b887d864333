private import Bytes
public import JOSE

/// What a relying party demands of one OpenID Provider's ID Tokens.
public struct ProviderPolicy: Sendable, Equatable {
    /// The relying party's own name for the provider.
    public var id: String
    /// The canonical issuer, compared byte for byte and reported for every alias; or a template (see ``IssuerTemplate``), and
    /// then the tenant's own issuer is reported.
    public var issuer: String { didSet { readTemplates() } }
    /// Other spellings of the issuer that the provider uses, compared byte for byte; templates of the same claim, where the
    /// issuer is a template.
    public var issuerAliases: [String] = [] { didSet { readTemplates() } }
    /// Which tenants are accepted; only where the issuer is a template.
    public var tenants = TenantRule.any(except: [])
    /// What the `issuer` of a JWK that has one must be, each with the tenant in braces; empty: it is not looked at.
    public var keyIssuers: [IssuerTemplate] = []
    /// The relying party's client IDs at this provider; empty where its tokens name none and ``authorizedParties`` tells
    /// them. With neither, every token is refused.
    public var audiences: [String]
    /// Client IDs of others that may stand beside ours in `aud`.
    public var trustedAudiences: [String] = []
    /// The values that `azp` may have; empty: any, beside a single audience.
    public var authorizedParties: [String] = []
    /// The algorithms that the provider may sign with; `nil`: those its discovery document lists.
    public var algorithms: SignatureAlgorithms?
    public var nonce = NonceRule()
    /// Seconds by which the provider's clock may differ from ours.
    public var clockSkewSeconds: Int64 = 60
    /// Seconds since `iat` after which a token is refused, whatever its `exp`.
    public var maximumTokenAgeSeconds: Int64?
    /// Claims that must be there, beside those every ID Token has.
    public var requiredClaims: [ClaimName] = []
    /// What the values of claims must be, or must not.
    public var claimRules: [ClaimRule] = []
    /// What tells tokens that programs get for themselves, which are refused.
    public var serviceAccounts = ServiceAccountRule()
    /// Whether a token is refused where neither request nor token has a nonce, and the token has `scope`, `scp` or `client_id`,
    /// but none of `at_hash`, `c_hash`, `auth_time` and `sid`: it is an access token.
    public var refusesAccessTokens = true
    public var email = EmailRule()
    /// Where members of the identity are, if not in the claims of OpenID Connect Core, section 5.1.
    public var identityClaims: [IdentityMember: ClaimPath] = [:]
    /// Whether `real_user_status` is this provider's claim.
    public var reportsRealUserStatus = false
    /// Whether `hd` is this provider's claim, and means a domain that it hosts.
    public var reportsHostedDomain = false
    /// Whether `transfer_sub` is this provider's claim.
    public var reportsTransferSubject = false
    /// Whether its tokens answer a request that an app made for this one sign-in, nonce and all.
    public var issuesTokensOfSignIns = true
    /// Whether the issuer is a template: then each tenant has an issuer, and subjects, of its own.
    package var hasTemplateIssuer: Bool { issuerTemplates != nil }
    /// The issuer and its aliases, where they are templates; `nil` where they are not, as most are.
    package private(set) var issuerTemplates: [IssuerTemplate]?

    public init(id: String, issuer: String, audiences: [String]) {
        self.id = id
        self.issuer = issuer
        self.audiences = audiences
        readTemplates()
    }

    private mutating func readTemplates() {
        guard let canonical = IssuerTemplate(issuer) else {
            issuerTemplates = nil
            return
        }
        let aliases = issuerAliases.compactMap(IssuerTemplate.init).filter { $0.claim == canonical.claim }
        issuerTemplates = [canonical] + aliases
    }

    /// Whether a token's `iss` names this provider. That its tenant is the one it names elsewhere is not asked here.
    public func isIssuer(_ issuer: String) -> Bool { isIssuer(Array(issuer.utf8)[...]) }

    func isIssuer(_ issuer: ArraySlice<UInt8>) -> Bool {
        if let issuerTemplates {
            return issuerTemplates.contains { $0.tenant(in: issuer).map(tenants.allows) ?? false }
        }
        let issuer = issuer.span
        return self.issuer.isExactly(issuer) || issuerAliases.contains { $0.isExactly(issuer) }
    }
}

extension ProviderPolicy {
    /// Every text that `iss` may be; `nil` where they can't be listed, since any tenant is accepted.
    public var allIssuers: [String]? {
        guard let issuerTemplates else { return [issuer] + issuerAliases }
        guard case .only(let tenants) = tenants else { return nil }
        return issuerTemplates.flatMap { template in tenants.map(template.issuer(ofTenant:)) }
    }

    /// Whether a token could name both providers. Errs on the side of yes.
    public func sharesIssuer(with other: ProviderPolicy) -> Bool {
        if let issuers = allIssuers { return issuers.contains(where: other.isIssuer) }
        if let issuers = other.allIssuers { return issuers.contains(where: isIssuer) }
        return (issuerTemplates ?? []).contains { template in
            (other.issuerTemplates ?? []).contains(where: template.mayOverlap)
        }
    }
}

/// How a nonce is compared.
public struct NonceRule: Sendable, Equatable {
    /// What the `nonce` claim may be, given the raw nonce; the first that fits is reported.
    public var accepted: [NonceMatch] = [.plain]
    /// Whether every sign-in must have a nonce.
    public var isRequired = false
    /// Whether nonces are checked at all. Off for providers that don't echo them.
    public var isChecked = true

    public init() {}
}

/// What a `nonce` claim is, given the raw nonce that the relying party made.
public enum NonceMatch: String, Sendable, CaseIterable {
    /// The lower-case hexadecimal SHA-256 of the raw nonce, as native apps send it to Apple.
    case sha256Hex = "sha256_hex"
    /// The base64url SHA-256 of the raw nonce, without padding.
    case sha256Base64URL = "sha256_base64url"
    /// The raw nonce itself.
    case plain
}

/// What tells the tokens that programs get for themselves from those of people, where a provider issues both for the same
/// audience. Such tokens are refused.
public struct ServiceAccountRule: Sendable, Equatable {
    /// Whether a token is refused whose `azp` is its `sub`: the account asked for a token of its own.
    public var refusesAzpEqualToSub = false
    /// Domains of service accounts' addresses; those below them count as well. Compared without regard to the case of ASCII
    /// letters.
    public var emailDomains: [String] = []

    public init() {}
}

/// What a provider's word on e-mail addresses is worth.
public struct EmailRule: Sendable, Equatable {
    /// What says whether an address is verified.
    public var verification = Verification.emailVerified
    /// Domains of addresses that relay to one the user keeps private; empty where the provider has no such thing. Compared
    /// without regard to the case of ASCII letters.
    public var privateDomains: [String] = []
    /// Domains whose mailboxes the provider itself runs.
    public var authoritativeDomains: [String] = []
    /// Whether the claim `hd` names a domain that the provider runs mail for.
    public var trustsHostedDomain = false

    /// What says whether an address is verified.
    public enum Verification: Sendable, Equatable {
        /// The claim `email_verified` of OpenID Connect Core, section 5.1.
        case emailVerified
        /// Another claim, such as Microsoft's `xms_edov`: verified where it is `true`, `1`, or either as a string, and not
        /// verified whatever else it is.
        case claim(ClaimPath)
        /// Nothing: the provider verifies no address, whatever its tokens say.
        case nothing
    }

    public init() {}
}
