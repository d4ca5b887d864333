package import IDToken

/// The parts of a verified access token or ID Token that policies read.
package enum GatewayToken: Sendable {
    case idToken(VerifiedIDToken)
    case accessToken(VerifiedAccessToken)

    package var identity: Identity {
        switch self {
        case .idToken(let token): token.identity
        case .accessToken(let token): token.identity
        }
    }

    /// The scopes and roles; `nil` for ID Tokens, which grant nothing.
    package var authorization: Authorization? {
        switch self {
        case .idToken: nil
        case .accessToken(let token): token.authorization
        }
    }

    /// The DPoP proof that came with it, if it passes only once.
    package var newProof: DPoPProof? {
        guard case .accessToken(let token) = self, let proof = token.binding?.proof, proof.passesOnce else {
            return nil
        }
        return proof
    }

    var expiresAt: UnixTime {
        switch self {
        case .idToken(let token): token.expiresAt
        case .accessToken(let token): token.expiresAt
        }
    }

    /// `auth_time`.
    var authTime: UnixTime? {
        switch self {
        case .idToken(let token): token.authTime
        case .accessToken(let token): token.authTime
        }
    }

    /// `auth_time`, or else `iat`; `nil` for a load balancer's assertion, which has neither.
    package var authenticatedAt: UnixTime? {
        switch self {
        case .idToken(let token): token.authTime ?? token.issuedAt
        case .accessToken(let token): token.authTime ?? token.issuedAt
        }
    }

    var sessionID: String? {
        switch self {
        case .idToken(let token): token.sessionID
        case .accessToken(let token): token.sessionID
        }
    }

    var tokenID: String? {
        switch self {
        case .idToken(let token): token.tokenID
        case .accessToken(let token): token.tokenID
        }
    }

    /// The verified payload as JSON text.
    var claimsText: ArraySlice<UInt8> {
        switch self {
        case .idToken(let token): token.claimsText
        case .accessToken(let token): token.claimsText
        }
    }
}
