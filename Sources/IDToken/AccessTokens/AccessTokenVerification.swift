public import JOSE

/// Verifies JWT access tokens, without I/O and without a clock.
///
/// - Source: RFC 9068, section 4; RFC 8725, section 3.12.
extension JWSVerifier {
    /// Verifies an access token; see ``AccessTokenVerifier/verify(_:with:algorithms:expecting:now:)``.
    ///
    /// - Throws: ``Rejection``.
    package func verifyAccessToken(
        _ token: UnverifiedToken, with keys: JWKSet, algorithms: SignatureAlgorithms, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, expecting parameters: AccessTokenParameters, now: UnixTime
    ) throws(Rejection) -> VerifiedAccessToken {
        try runAccessTokenChecks(
            on: token, with: keys, algorithms: algorithms, under: policy, dialect, expecting: parameters, now: now,
            watchedBy: FirstFailure()
        ).verified()
    }

    /// Runs the checks that need no keys.
    ///
    /// - Throws: ``Rejection/headerUnsupported``, ``Rejection/algorithmNotAllowed``; for a load balancer's assertion,
    ///   also the rejection for any other error in its header.
    package func checkAccessTokenHeader(
        _ token: UnverifiedToken, allowing algorithms: SignatureAlgorithms, _ dialect: AccessTokenDialect
    ) throws(Rejection) {
        _ = try runAccessTokenHeaderChecks(on: token, allowing: algorithms, dialect, watchedBy: FirstFailure())
    }
}

extension UnverifiedToken {
    /// Checks the unverified issuer, audience, client and expiry. Keys are fetched only if they pass: otherwise junk
    /// tokens could trigger requests to a provider.
    ///
    /// - Throws: the rejection for the first that would not pass.
    package func checkClaims(
        ofAccessTokenUnder policy: ProviderPolicy, _ dialect: AccessTokenDialect, now: UnixTime
    ) throws(Rejection) {
        if let signer = dialect.loadBalancer { try LoadBalancerHeader(self).check(self, signedBy: signer) }
        _ = try checkIssuer(claims, policy)
        _ = try checkResourceAudience(claims, policy, dialect, narrowedTo: nil)
        _ = try checkClient(self, policy, dialect)
        _ = try checkExpiration(claims, policy, now: now)
    }
}

/// The requirements of one request, and the evidence that it brings besides the access token.
public struct AccessTokenParameters: Sendable {
    /// The configured audience that the token must have; `nil`: any of them.
    public var audience: String?
    /// The user or machine that the token must belong to; `nil`: any.
    public var expectedSubject: ExpectedSubject?
    /// When the user's sessions were last revoked. Authentications before this time are rejected.
    public var authenticatedAfter: UnixTime?
    /// The scopes, all of which the token must grant.
    public var scopes: [String]
    /// The request's evidence, besides the token, that its sender has the token's key.
    public var evidence: BindingEvidence

    public init(
        audience: String? = nil, expectedSubject: ExpectedSubject? = nil, authenticatedAfter: UnixTime? = nil,
        scopes: [String] = [], evidence: BindingEvidence = BindingEvidence()
    ) {
        self.audience = audience
        self.expectedSubject = expectedSubject
        self.authenticatedAfter = authenticatedAfter
        self.scopes = scopes
        self.evidence = evidence
    }
}

/// An access token that passed every check. Only ``AccessTokenVerifier`` creates one.
// A class, because it is passed through many functions: each copy of a struct would retain all of its parts.
public final class VerifiedAccessToken: Sendable {
    /// The user or machine that the token belongs to. A machine's token may have its client ID as subject.
    public let identity: Identity
    /// The permissions that the token grants, and the client that it was issued to.
    public let authorization: Authorization
    /// How the key was proven that the token is bound to; `nil` if it is bound to none.
    public let binding: TokenBinding?
    /// `aud`; empty for providers whose tokens are checked by their client instead.
    public let audiences: [String]
    /// `azp`.
    public let authorizedParty: String?
    /// `iat`; `nil` only for a load balancer's assertion, which has none.
    public let issuedAt: UnixTime?
    /// `exp`.
    public let expiresAt: UnixTime
    /// `nbf`.
    public let notBefore: UnixTime?
    /// `auth_time`.
    public let authTime: UnixTime?
    /// `jti`.
    public let tokenID: String?
    /// `sid`.
    public let sessionID: String?
    /// `acr`.
    public let authenticationContextClass: String?
    /// `amr`; empty if the token has none.
    public let authenticationMethods: [String]
    /// The signature algorithm.
    public let algorithm: SignatureAlgorithm
    /// The header's `kid`.
    public let keyID: String?
    /// Always `nil`: access tokens belong to no sign-in.
    package var nonceMatch: NonceMatch? { nil }
    /// The verified payload as JSON text, byte for byte.
    public let claimsText: ArraySlice<UInt8>

    init(
        identity: Identity, authorization: Authorization, binding: TokenBinding?, audiences: [String],
        authorizedParty: String?, issuedAt: UnixTime?, expiresAt: UnixTime, notBefore: UnixTime?, authTime: UnixTime?,
        claims: Claims, jws: VerifiedJWS
    ) {
        self.identity = identity
        self.authorization = authorization
        self.binding = binding
        self.audiences = audiences
        self.authorizedParty = authorizedParty
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.authTime = authTime
        (tokenID, sessionID, authenticationContextClass, authenticationMethods) = claims.session
        algorithm = jws.algorithm
        keyID = jws.header.keyID
        claimsText = jws.payload[...]
    }
}
