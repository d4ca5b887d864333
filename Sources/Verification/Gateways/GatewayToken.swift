package import IDToken

/// The parts of a verified token that policies read.
package enum GatewayToken: Sendable {
    case idToken(VerifiedIDToken)
    case accessToken(VerifiedAccessToken)
    case opaque(AcceptedOpaqueToken)

    /// `nil` for an opaque token whose issuer names nobody.
    package var identity: Identity? {
        switch self {
        case .idToken(let token): token.identity
        case .accessToken(let token): token.identity
        case .opaque(let accepted): accepted.token.identity
        }
    }

    /// The scopes and roles; `nil` for ID Tokens, which grant nothing.
    package var authorization: Authorization? {
        switch self {
        case .idToken: nil
        case .accessToken(let token): token.authorization
        case .opaque(let accepted): accepted.token.authorization
        }
    }

    /// The DPoP proof that came with it, if it passes only once.
    package var newProof: DPoPProof? {
        switch self {
        case .idToken: nil
        case .accessToken(let token): token.binding?.newProof
        case .opaque(let accepted): accepted.binding?.newProof
        }
    }

    private var times: (expiresAt: UnixTime?, authTime: UnixTime?, issuedAt: UnixTime?) {
        switch self {
        case .idToken(let token): (token.expiresAt, token.authTime, token.issuedAt)
        case .accessToken(let token): (token.expiresAt, token.authTime, token.issuedAt)
        case .opaque(let accepted): (accepted.token.expiresAt, accepted.token.authTime, accepted.token.issuedAt)
        }
    }

    /// `nil` for an opaque token whose issuer does not say.
    var expiresAt: UnixTime? { times.expiresAt }

    /// `auth_time`.
    var authTime: UnixTime? { times.authTime }

    /// `auth_time`, or else `iat`; `nil` if the token has neither.
    package var authenticatedAt: UnixTime? { times.authTime ?? times.issuedAt }

    /// `sid` and `jti`.
    var identifiers: (session: String?, token: String?) {
        switch self {
        case .idToken(let token): (token.sessionID, token.tokenID)
        case .accessToken(let token): (token.sessionID, token.tokenID)
        case .opaque(let accepted): (accepted.token.sessionID, accepted.token.tokenID)
        }
    }

    /// The verified payload, or what the issuer says of an opaque token, as JSON text.
    var claimsText: ArraySlice<UInt8> {
        switch self {
        case .idToken(let token): token.claimsText
        case .accessToken(let token): token.claimsText
        case .opaque(let accepted): accepted.token.claimsText
        }
    }
}

extension TokenBinding {
    /// The DPoP proof that proved the key, if it passes only once.
    var newProof: DPoPProof? { proof.flatMap { $0.passesOnce ? $0 : nil } }
}
