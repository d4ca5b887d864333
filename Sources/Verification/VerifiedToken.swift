internal import AccessTokens
internal import IDToken
internal import JOSE

/// The parts of a verified token that responses contain, whatever its kind.
protocol VerifiedToken {
    /// `aud`.
    var audiences: [String] { get }
    /// `azp`.
    var authorizedParty: String? { get }
    /// `iat`; `nil` if the token has none.
    var issuedAtSeconds: Int64? { get }
    /// `exp`.
    var expiresAt: UnixTime { get }
    /// `nbf`.
    var notBefore: UnixTime? { get }
    /// `auth_time`.
    var authTime: UnixTime? { get }
    /// `jti`.
    var tokenID: String? { get }
    /// `sid`.
    var sessionID: String? { get }
    /// `acr`.
    var authenticationContextClass: String? { get }
    /// `amr`.
    var authenticationMethods: [String] { get }
    /// The signature algorithm.
    var algorithm: SignatureAlgorithm { get }
    /// The header's `kid`.
    var keyID: String? { get }
    /// How the nonce matched; `nil` if no nonce was expected.
    var nonceMatch: NonceMatch? { get }
}

// Declared here, and not beside the types, so that `write(to:)` reads their members directly: calls to witnesses in
// other modules cost 400 instructions per response.
extension VerifiedIDToken: VerifiedToken {
    @inline(__always)
    var issuedAtSeconds: Int64? { issuedAt.seconds }
}

extension VerifiedAccessToken: VerifiedToken {
    var issuedAtSeconds: Int64? { issuedAt?.seconds }
}
