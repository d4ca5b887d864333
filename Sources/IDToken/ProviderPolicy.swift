public import JOSE
private import JSON

/// What a relying party demands of one OpenID Provider's ID Tokens.
public struct ProviderPolicy: Sendable {
    /// The relying party's own name for the provider.
    public var id: String
    /// The canonical issuer, compared byte for byte and reported for every alias.
    public var issuer: String
    /// Other spellings of the issuer that the provider uses, compared byte for byte.
    public var issuerAliases: [String] = []
    /// The relying party's client IDs at this provider.
    public var audiences: [String]
    /// Client IDs of others that may stand beside ours in `aud`.
    public var trustedAudiences: [String] = []
    /// The values that `azp` may have; empty: any, beside a single audience.
    public var authorizedParties: [String] = []
    /// The algorithms that the provider may sign with; `nil`: those its discovery document lists.
    public var algorithms: Set<SignatureAlgorithm>?
    public var nonce = NonceRule()
    /// Seconds by which the provider's clock may differ from ours.
    public var clockSkewSeconds: Int64 = 60
    /// Seconds since `iat` after which a token is refused, whatever its `exp`.
    public var maximumTokenAgeSeconds: Int64?
    /// Claims that must be there, beside those every ID Token has.
    public var requiredClaims: [ClaimName] = []
    public var email = EmailRule()
    /// Whether `real_user_status` is this provider's claim.
    public var reportsRealUserStatus = false

    public init(id: String, issuer: String, audiences: [String]) {
        self.id = id
        self.issuer = issuer
        self.audiences = audiences
    }

    /// Whether a token's `iss` names this provider.
    public func isIssuer(_ issuer: String) -> Bool { isIssuer(Array(issuer.utf8)[...]) }

    func isIssuer(_ issuer: ArraySlice<UInt8>) -> Bool {
        let issuer = issuer.span
        return self.issuer.isExactly(issuer) || issuerAliases.contains { $0.isExactly(issuer) }
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

/// What a provider's word on e-mail addresses is worth.
public struct EmailRule: Sendable, Equatable {
    /// Domains of addresses that relay to one the user keeps private; empty where the provider has no such thing. Compared
    /// without regard to the case of ASCII letters.
    public var privateDomains: [String] = []
    /// Domains whose mailboxes the provider itself runs.
    public var authoritativeDomains: [String] = []
    /// Whether the claim `hd` names a domain that the provider runs mail for.
    public var trustsHostedDomain = false

    public init() {}
}
