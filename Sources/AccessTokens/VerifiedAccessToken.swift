package import IDToken
package import JOSE

/// An access token that passed every check. Only ``JOSE/JWSVerifier`` creates one.
package struct VerifiedAccessToken: Sendable {
    /// The user or machine that the token belongs to. A machine's token may have its client ID as subject.
    package let identity: Identity
    package let authorization: Authorization
    /// `aud`; empty for providers whose tokens are checked by their client instead.
    package let audiences: [String]
    /// `azp`.
    package let authorizedParty: String?
    /// `iat`; `nil` only for a load balancer's assertion, which has none.
    package let issuedAt: UnixTime?
    package let expiresAt: UnixTime
    package let notBefore: UnixTime?
    package let authTime: UnixTime?
    package let tokenID: String?
    package let sessionID: String?
    package let authenticationContextClass: String?
    package let authenticationMethods: [String]
    package let algorithm: SignatureAlgorithm
    package let keyID: String?
    /// Always `nil`: access tokens belong to no sign-in.
    package var nonceMatch: NonceMatch? { nil }
    package let claimsText: ArraySlice<UInt8>

    init(
        identity: Identity, authorization: Authorization, audiences: [String], authorizedParty: String?,
        issuedAt: UnixTime?, expiresAt: UnixTime, notBefore: UnixTime?, authTime: UnixTime?, claims: Claims,
        jws: VerifiedJWS
    ) {
        self.identity = identity
        self.authorization = authorization
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
        claimsText = jws.payload[...]
    }
}
