internal import IDToken

extension Rejection {
    /// The detail for an access token about which the provider was asked, where it differs from that for a JWT.
    var opaqueTokenDetail: String {
        switch self {
        case .tokenMalformed(.tooLong): accessTokenDetail
        case .tokenMalformed:
            "The token is no bearer token (letters, digits, and -._~+/ with = only at its end), or looks like a JWT that can't be read, so the provider was not asked; send it exactly as the provider issued it."
        case .issuerMismatch:
            "The introspection response's iss is not this provider's issuer, byte for byte; check issuer and introspection.endpoint in the settings."
        case .audienceMismatch:
            "The introspection response's aud is not one of this API's identifiers, or there is an aud although audiences is none; check audiences."
        case .claimMissing(.audience):
            "The introspection response has no aud; have the provider add it, or, if a client or a scope ties tokens to this API, set audiences: none with authorized_parties or required_scopes."
        case .claimMissing(let claim):
            "The introspection response has no \(claim.string), which the settings or the request require; have the provider add it, or correct them."
        case .claimInvalid(let claim):
            "The introspection response's \(claim.string) has a value that is invalid or that the settings refuse; check claim_values."
        case .scopeMissing:
            "The token does not grant every scope in scopes and required_scopes; have the app request an access token with them."
        case .subjectMismatch:
            "The token is valid, but for a user or machine other than the one in subject and issuer, or the provider does not say whose it is; refuse the request."
        default: accessTokenDetail
        }
    }
}
