private import Bytes
public import JOSE

/// A relying party's rules for the ID Tokens of one OpenID Provider.
public struct ProviderPolicy: Sendable, Equatable {
    /// The relying party's own name for the provider.
    public var id: String
    /// The canonical issuer, compared byte for byte and reported for every alias; or an ``IssuerTemplate``, for which
    /// the tenant's own issuer is reported.
    public var issuer: String { didSet { readTemplates() } }
    /// Other spellings of the issuer that the provider uses, compared byte for byte. If the issuer is a template, these
    /// are templates of the same claim.
    public var issuerAliases: [String] = [] { didSet { readTemplates() } }
    /// Which tenants are accepted. Applies only if the issuer is a template.
    public var tenants = TenantRule.any(except: [])
    /// The accepted values of a JWK's `issuer`, with the tenant in braces; empty: not checked. Keys without `issuer`
    /// are accepted.
    public var keyIssuers: [IssuerTemplate] = []
    /// The relying party's client IDs at this provider; empty if its tokens have no audience and ``authorizedParties``
    /// identifies the clients. If both are empty, every token is rejected.
    public var audiences: [String]
    /// Client IDs of other parties that may occur next to ours in `aud`.
    public var trustedAudiences: [String] = []
    /// The accepted values of `azp`; empty: any, if the token has a single audience.
    public var authorizedParties: [String] = []
    /// The algorithms that the provider may sign with; `nil`: those in its discovery document.
    public var algorithms: SignatureAlgorithms?
    public var nonce = NonceRule()
    /// Maximum difference between the provider's clock and ours, in seconds.
    public var clockSkewSeconds: Int64 = 60
    /// Maximum age of a token since its `iat`, in seconds, whatever its `exp`.
    public var maximumTokenAgeSeconds: Int64?
    /// Maximum length of `sub`, in characters. OpenID Connect Core limits the names of End-Users; those of workloads are
    /// made of other names, and may be longer.
    public var maximumSubjectLength = 255
    /// Claims that must be present, in addition to those that every ID Token has.
    public var requiredClaims: [ClaimName] = []
    /// Claim values that are required or forbidden.
    public var claimRules: [ClaimRule] = []
    /// How to recognize tokens that service accounts request for themselves. They are rejected.
    public var serviceAccounts = ServiceAccountRule()
    /// Whether to reject suspected access tokens: neither request nor token has a nonce, and the token has `scope`,
    /// `scp` or `client_id`, but none of `at_hash`, `c_hash`, `auth_time` and `sid`.
    public var refusesAccessTokens = true
    public var email = EmailRule()
    /// Claims to read members of the identity from, if not the claims of OpenID Connect Core, section 5.1.
    public var identityClaims: [IdentityMember: ClaimPath] = [:]
    /// Whether this provider defines the claim `real_user_status`.
    public var reportsRealUserStatus = false
    /// Whether this provider defines the claim `hd` as a domain that it hosts.
    public var reportsHostedDomain = false
    /// Whether this provider defines the claim `transfer_sub`.
    public var reportsTransferSubject = false
    /// Whether an app requests each token for one sign-in, with a nonce of its own.
    public var issuesTokensOfSignIns = true
    /// The value of ``maximumSubjectLength`` for providers of workloads: a customized `sub` of GitHub Actions joins several
    /// claims, and Kubernetes allows 63 characters for a namespace and 253 for a service account.
    package static let maximumWorkloadLength = 512
    /// Where the issuer and the audiences are from.
    package var origin = Origin.entry
    /// Whether the issuer is a template: each tenant then has its own issuer and its own subjects.
    package var hasTemplateIssuer: Bool { issuerTemplates != nil }
    /// The issuer and its aliases, if they are templates; otherwise `nil`.
    package private(set) var issuerTemplates: [IssuerTemplate]?

    /// Who says which issuer and audiences a policy has.
    package enum Origin: Sendable, Equatable {
        /// The provider's entry in the settings.
        case entry
        /// One line of the entry's list of issuers.
        case line
        /// The connection that a request names.
        case connection
    }

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

    /// Whether a token's `iss` names this provider. Does not check that the token's tenant claim agrees.
    public func isIssuer(_ issuer: String) -> Bool { isIssuer(Array(issuer.utf8)[...]) }

    /// The issuer that a value of `iss` names, as identities report it; `nil` if it is not this provider's.
    package func canonicalIssuer(of issuer: String) -> String? {
        guard isIssuer(issuer) else { return nil }
        guard let issuerTemplates else { return self.issuer }
        let octets = Array(issuer.utf8)[...]
        return issuerTemplates.lazy.compactMap { $0.tenant(in: octets) }.first.map {
            issuerTemplates[0].issuer(ofTenant: String(decoding: $0, as: UTF8.self))
        }
    }

    func isIssuer(_ issuer: ArraySlice<UInt8>) -> Bool {
        if let issuerTemplates {
            return issuerTemplates.contains { $0.tenant(in: issuer).map(tenants.allows) ?? false }
        }
        let issuer = issuer.span
        return self.issuer.isExactly(issuer) || issuerAliases.contains { $0.isExactly(issuer) }
    }
}

extension ProviderPolicy {
    /// Every accepted value of `iss`; `nil` if they can't be listed because any tenant is accepted.
    public var allIssuers: [String]? {
        guard let issuerTemplates else { return [issuer] + issuerAliases }
        guard case .only(let tenants) = tenants else { return nil }
        return issuerTemplates.flatMap { template in tenants.map(template.issuer(ofTenant:)) }
    }

    /// Whether a token could match both providers. May return false positives.
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
    /// The accepted forms of the `nonce` claim, given the raw nonce. The first match is reported.
    public var accepted: [NonceMatch] = [.plain]
    /// Whether every sign-in must have a nonce.
    public var isRequired = false
    /// Whether nonces are checked at all. Off for providers that don't echo them.
    public var isChecked = true

    public init() {}
}

/// The form of a `nonce` claim, given the raw nonce that the relying party generated.
public enum NonceMatch: String, Sendable, CaseIterable {
    /// The lower-case hexadecimal SHA-256 of the raw nonce, as native apps send it to Apple.
    case sha256Hex = "sha256_hex"
    /// The base64url SHA-256 of the raw nonce, without padding.
    case sha256Base64URL = "sha256_base64url"
    /// The raw nonce itself.
    case plain
}

/// How to recognize tokens that service accounts request for themselves, if a provider issues them for the same
/// audience as users' tokens. Such tokens are rejected.
public struct ServiceAccountRule: Sendable, Equatable {
    /// Whether to reject tokens whose `azp` equals their `sub`: the account requested the token itself.
    public var refusesAzpEqualToSub = false
    /// Domains of service accounts' addresses, including their subdomains. The case of ASCII letters is ignored.
    public var emailDomains: [String] = []

    public init() {}
}

/// How far to trust a provider's statements about e-mail addresses.
public struct EmailRule: Sendable, Equatable {
    /// What determines whether an address is verified.
    public var verification = Verification.emailVerified
    /// Domains of private relay addresses; empty if the provider has no relay. The case of ASCII letters is ignored.
    public var privateDomains: [String] = []
    /// Domains whose mailboxes the provider itself runs.
    public var authoritativeDomains: [String] = []
    /// Whether the claim `hd` names a domain that the provider runs mail for.
    public var trustsHostedDomain = false

    /// The only domains about whose addresses the provider's word counts; `nil`: all.
    public var trustedDomains: [String]?

    /// What determines whether an address is verified.
    public enum Verification: Sendable, Equatable {
        /// The claim `email_verified` of OpenID Connect Core, section 5.1.
        case emailVerified
        /// Another claim, such as Microsoft's `xms_edov`: verified if it is `true`, `1`, or either as a string;
        /// otherwise not verified.
        case claim(ClaimPath)
        /// Nothing: the provider does not verify addresses, whatever its tokens say.
        case nothing
    }

    public init() {}
}

/// An issuer that differs by tenant: a URL in which the name of a claim, in braces, is replaced by that claim's value,
/// such as `https://login.microsoftonline.com/{tid}/v2.0`.
public struct IssuerTemplate: Sendable, Equatable {
    /// The claim that names the tenant.
    public let claim: ClaimName
    private let prefix: String
    private let suffix: String

    /// In bytes. Longer names are rejected.
    private static let maximumTenantLength = 128

    /// `nil` unless the text has exactly one name in braces. Braces can't occur in a URL, so a plain issuer is never
    /// mistaken for a template.
    public init?(_ text: String) {
        let parts = text.split(separator: "{", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let rest = parts[1].split(separator: "}", omittingEmptySubsequences: false)
        guard rest.count == 2, !rest[0].isEmpty, !parts[0].contains("}") else { return nil }
        claim = ClaimName(String(rest[0]))
        prefix = String(parts[0])
        suffix = String(rest[1])
    }

    /// The template as written.
    public var text: String { prefix + "{" + claim.string + "}" + suffix }

    /// The issuer of one tenant.
    public func issuer(ofTenant tenant: String) -> String { prefix + tenant + suffix }

    /// The tenant of an issuer; `nil` if the issuer does not match this template.
    ///
    /// A tenant's name consists of unreserved URL characters (RFC 3986, section 2.3), so it can't match other parts of
    /// an issuer.
    package func tenant(in issuer: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let (start, end) = (prefix.utf8, suffix.utf8)
        guard issuer.count > start.count + end.count, issuer.starts(with: start),
            issuer.suffix(end.count).elementsEqual(end)
        else { return nil }
        let tenant = issuer.dropFirst(start.count).dropLast(end.count)
        guard tenant.count <= Self.maximumTenantLength, tenant.allSatisfy(\.isUnreserved) else { return nil }
        return tenant
    }

    /// Whether both templates are equal except for the claim in braces.
    func hasSameText(_ other: IssuerTemplate) -> Bool {
        prefix.isExactly(other.prefix) && suffix.isExactly(other.suffix)
    }

    /// Whether an issuer could match both templates. May return false positives.
    fileprivate func mayOverlap(_ other: IssuerTemplate) -> Bool {
        let (prefixes, suffixes) = ((prefix, other.prefix), (suffix, other.suffix))
        return (prefixes.0.hasPrefix(prefixes.1) || prefixes.1.hasPrefix(prefixes.0))
            && (suffixes.0.hasSuffix(suffixes.1) || suffixes.1.hasSuffix(suffixes.0))
    }
}

/// The tenants whose tokens are accepted if the issuer is a template.
public enum TenantRule: Sendable, Equatable {
    case any(except: [String])
    case only([String])

    /// Names are compared byte for byte.
    package func allows(_ tenant: ArraySlice<UInt8>) -> Bool {
        switch self {
        case .any(let exceptions): !exceptions.contains { $0.isExactly(tenant.span) }
        case .only(let tenants): tenants.contains { $0.isExactly(tenant.span) }
        }
    }
}

/// Which values a claim may have. Distinguishes ID Tokens from other tokens signed with the same keys, or the users of
/// one organization from others.
public struct ClaimRule: Sendable, Equatable {
    public var claim: ClaimPath
    /// What the claim, or each element of a list, is compared with, byte for byte: the text of a string, or a boolean or
    /// integer as JSON writes it.
    public var values: [String]
    public var kind: Kind

    /// How a claim's value must relate to the values of the rule.
    public enum Kind: Sendable, Equatable {
        /// The claim must be present, with one of the values, or a list with one of them.
        case oneOf
        /// The claim may be absent. If present, it must not have any of the values, nor be a list with one of them.
        case noneOf
        /// The claim must be absent or `null`. The values are ignored.
        case absent
    }

    public init(_ claim: ClaimPath, _ kind: Kind, _ values: [String]) {
        self.claim = claim
        self.kind = kind
        self.values = values
    }
}

/// The location of a claim: its name, or a JSON Pointer (RFC 6901) to a member of an object claim, such as
/// `/firebase/tenant`.
public struct ClaimPath: Sendable, Hashable {
    /// The path as written. Rejections name it.
    public let name: ClaimName
    /// The member names from the outermost object inwards, at least one.
    package let steps: [ClaimName]

    public init(_ text: String) {
        name = ClaimName(text)
        guard text.hasPrefix("/") else {
            steps = [name]
            return
        }
        steps = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { step in
            // RFC 6901, section 4: ~1 first, so that ~01 becomes ~1.
            ClaimName(String(step).replacing("~1", with: "/").replacing("~0", with: "~"))
        }
    }
}
