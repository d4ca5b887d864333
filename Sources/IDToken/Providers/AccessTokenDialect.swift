/// How the JWT access tokens of a provider are recognized and read. The defaults don't require the `typ` and
/// `jti` of RFC 9068; `rfc9068` does.
public struct AccessTokenDialect: Sendable, Equatable {
    /// The values of `typ` that the header may have.
    public var types = Set(AccessTokenType.allCases)
    /// A claim that the issuer's ID Tokens lack, which a token must have unless its `typ` declares an access token;
    /// `nil`: other rules tell the kinds apart.
    public var accessTokenClaim: ClaimName?
    /// The claims that can name the client. The first that has a value counts.
    public var clientClaims: [ClaimName]
    /// Whether a token must name its client.
    public var requiresClient = true
    /// Claims that only the provider's ID Tokens have.
    public var idTokenClaims: [ClaimName] = [.nonce, .accessTokenHash, .codeHash]
    /// Claims that must be present, in addition to `iss`, `sub`, `exp`, `iat` and the audience.
    public var requiredClaims: [ClaimName] = []
    /// Claim values that tell access tokens from other tokens signed with the same keys.
    public var claimRules: [ClaimRule] = []
    public var authorization = AuthorizationClaims()
    /// Whether the provider issues a single kind of token, which is also verified as an ID Token.
    public var isAlsoIDToken = false
    /// The ARN of the AWS load balancer that must have signed each assertion; `nil`: tokens are JWTs.
    ///
    /// Its assertions are padded. Their header names the signer and the client, and repeats `iss` and `exp`. They have
    /// neither `aud` nor `iat`.
    public var loadBalancer: String?
    /// Whether the issuer has a key set for each client, so that a token needs no audience to be for this one.
    public var hasKeysOfOneClient = false
    /// The claim that names the machine in assertions with an empty `sub`; `nil`: there are no such assertions.
    public var serviceNameClaim: ClaimName?
    /// Whether assertions that name a machine are accepted.
    public var acceptsServiceTokens = false

    /// Whether a token that is bound to its client's key is accepted although nothing proves that the sender has the key.
    public var acceptsUncheckedBindings = false
    /// The key that every token must be bound to; `nil`: tokens may be bound to none.
    public var requiredBinding: RequiredBinding?
    /// The scopes, all of which every token must grant, whatever a request needs.
    public var requiredScopes: [String] = []
    /// What its DPoP proofs need, where it differs from the settings for all proofs.
    package var proofUse = ProofUse()

    init(clientClaims: [ClaimName] = [.clientID], adjust: (inout AccessTokenDialect) -> Void = { _ in }) {
        self.clientClaims = clientClaims
        requiresClient = !clientClaims.isEmpty
        adjust(&self)
    }

    /// The JWT profile for access tokens.
    ///
    /// - Source: RFC 9068, section 2.2.
    static let rfc9068 = AccessTokenDialect {
        $0.types = [.accessToken]
        $0.idTokenClaims = []
        $0.requiredClaims = [.tokenID]
    }

    /// A provider whose tokens name a user or a machine, and neither a client nor a sign-in.
    static let singleKind = AccessTokenDialect(clientClaims: []) { $0.isAlsoIDToken = true }

    /// A provider that is asked about each token. Its responses have the members of RFC 7662, whatever its JWTs have.
    ///
    /// - Parameter authorization: the members that say what the bearer may do.
    package static func opaque(_ authorization: AuthorizationClaims) -> AccessTokenDialect {
        AccessTokenDialect {
            $0.requiresClient = false
            $0.idTokenClaims = []
            $0.authorization = authorization
        }
    }

    /// A gateway whose keys sign nothing but assertions about users.
    static let gateway = AccessTokenDialect(clientClaims: [])
}

/// A value of `typ` that access tokens have.
public enum AccessTokenType: String, Sendable, CaseIterable {
    /// The only one that says so (RFC 9068, section 2.1).
    case accessToken = "at+jwt"
    case jwt = "JWT"
    /// There is no `typ`.
    case none = ""
}

/// The claims that say what the bearer may do, apart from scopes.
///
/// - Source: RFC 9068, section 2.2.3.1.
public struct AuthorizationClaims: Sendable, Equatable {
    public var roles = ClaimPath("roles")
    public var groups = ClaimPath("groups")
    public var entitlements = ClaimPath("entitlements")

    public init() {}
}

/// Whether a provider's access tokens can be verified.
public enum AccessTokenSupport: Sendable, Equatable {
    case jwt(AccessTokenDialect)
    /// The provider is a gateway. It signs nothing but assertions, which are verified as access tokens.
    case assertions(AccessTokenDialect)
    /// Completes the sentence "its access tokens can't be verified: …".
    case unsupported(because: String)

    /// `nil` if they can't be verified.
    public var dialect: AccessTokenDialect? {
        switch self {
        case .jwt(let dialect), .assertions(let dialect): dialect
        case .unsupported: nil
        }
    }

    static let opaque = Self.unsupported(because: "only the provider can read them")
    /// - Parameter what: names the token that is verified instead.
    static func noneBeside(_ what: String) -> Self { .unsupported(because: "verify its \(what) with tokens: id") }
}

extension ProviderFacts {
    /// The same provider as the issuer of access tokens, which differ from its ID Tokens by a dialect.
    public func ofAccessTokens(_ dialect: AccessTokenDialect) -> ProviderFacts {
        var facts = self
        facts.policy.issuesTokensOfSignIns = false
        facts.policy.refusesAccessTokens = false
        guard !dialect.isAlsoIDToken else { return facts }
        facts.policy.claimRules = dialect.claimRules
        facts.policy.requiredClaims = dialect.requiredClaims
        return facts
    }
}
