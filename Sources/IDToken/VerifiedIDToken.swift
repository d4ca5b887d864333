public import JOSE

/// An ID Token that passed every check. Only ``IDTokenVerifier`` creates one.
public final class VerifiedIDToken: Sendable {
    /// Who signed in.
    public let identity: Identity
    /// `aud`; empty only for providers whose tokens are checked by `azp` instead.
    public let audiences: [String]
    /// `azp`.
    public let authorizedParty: String?
    /// `iat`, in whole seconds.
    public let issuedAt: UnixTime
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
    /// How the nonce matched; `nil` if none was compared.
    public let nonceMatch: NonceMatch?
    /// The verified payload as JSON text, byte for byte.
    public let claimsText: ArraySlice<UInt8>

    init(
        identity: Identity, audiences: [String], authorizedParty: String?, expiresAt: UnixTime, notBefore: UnixTime?,
        issuedAt: UnixTime, authTime: UnixTime?, claims: Claims, jws: VerifiedJWS, nonceMatch: NonceMatch?
    ) {
        self.identity = identity
        self.audiences = audiences
        self.authorizedParty = authorizedParty
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.authTime = authTime
        tokenID = claims.text(.tokenID)
        sessionID = claims.text(.sessionID)
        authenticationContextClass = claims.text(.authenticationContextClass)
        authenticationMethods = claims.texts(.authenticationMethods)
        algorithm = jws.algorithm
        keyID = jws.header.keyID
        self.nonceMatch = nonceMatch
        claimsText = jws.payload[...]
    }
}
