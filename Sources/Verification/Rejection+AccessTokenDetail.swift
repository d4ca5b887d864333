internal import IDToken

extension Rejection {
    /// The detail for an access token, where it differs from that for an ID Token. Names the kind of token that was
    /// sent, if it can be recognized.
    var accessTokenDetail: String {
        switch self {
        case .tokenMalformed(.tooLong):
            "The token is longer than \(UnverifiedToken.maximumLength) bytes; send nothing but the access token, or have the provider put less into it, such as fewer groups."
        case .tokenMalformed(.encrypted):
            "The token has five parts: it is encrypted (JWE); ask the provider for signed access tokens."
        case .tokenMalformed(.serialization):
            "The token is not three parts of base64url separated by dots: an opaque access token, which only the provider can read, or a damaged one; ask the provider for JWT access tokens."
        case .headerUnsupported:
            "The token's header has crit, b64 or zip, or a typ other than an access token's (at+jwt); send the access token, not the ID Token or another token."
        case .audienceMismatch:
            "The token's aud is not one of this API's identifiers; check audiences, and send the access token, not the ID Token, whose aud is the client."
        case .audienceNotExpected: idTokenDetail
        case .authorizedPartyMismatch:
            "The token was issued to a client that this API does not accept; if it is one of yours, add it to authorized_parties."
        case .tokenExpired: "The token's exp has passed; have the client refresh it."
        case .tokenTooOld: "The token was issued longer ago than max_token_age allows; have the client refresh it."
        case .claimMissing(.subject):
            "The token has no sub, so it does not say whose it is; have the provider add it (Keycloak: the client scope basic), or, for service tokens of Cloudflare Access, set service_tokens: true."
        case .claimMissing(.issuer), .claimMissing(.audience), .claimMissing(.expiration):
            "The token has no \(claim?.string ?? ""), which every access token has; send the access token, or have the provider add the claim."
        case .claimMissing(.issuedAt):
            "The token has no iat, so its age is unknown; send one that has iat, or, for a load balancer's assertion, omit authenticated_after."
        case .claimMissing(.signer), .claimInvalid(.signer):
            "The assertion's signer is missing or names another load balancer; check signer in the settings, byte for byte, and never accept assertions from other load balancers."
        case .claimMissing(.scope), .claimMissing(.shortScope), .claimMissing(.clientID):
            "The token has no \(claim?.string ?? ""), which this provider's access tokens have; send the access token, not the ID Token."
        case .claimMissing(let claim):
            "The token has no \(claim.string), which is required; send an access token, have the provider add the claim, or change required_claims."
        case .claimInvalid(.nonce), .claimInvalid(.accessTokenHash), .claimInvalid(.codeHash), .claimInvalid(.authTime):
            "The token has \(claim?.string ?? ""), which only ID Tokens have; send the access token from the provider's response."
        case .claimInvalid(.events):
            "The token has events: it is a notification; send it to /v1/notifications/verify."
        case .claimInvalid(let claim):
            "The token's \(claim.string) has a value that is invalid, that the settings refuse, or that another kind of token has; send the access token, and check claim_values."
        case .sessionRevoked:
            "The user authenticated before authenticated_after, when sessions were revoked; have the user sign in again."
        case .subjectMismatch:
            "The token is valid, but for a user or machine other than the one in subject and issuer; refuse the request."
        case .tokenMalformed(.header), .tokenMalformed(.payload), .tokenMalformed(.signature):
            "A part of the token is not one JSON object, not base64url, or wrongly padded (only an AWS load balancer's assertion has padding); send the token exactly as it was issued."
        case .algorithmNotAllowed, .keyNotFound, .keyUnsuitable, .signatureInvalid, .issuerMismatch, .tokenNotYetValid,
            .authTimeTooOld,
            .nonceRequired, .nonceMissing, .nonceMismatch, .atHashMissing, .atHashMismatch, .cHashMissing,
            .cHashMismatch, .scopeMissing, .bindingRequired, .groupsOverage, .cryptographyUnavailable:
            idTokenDetail
        }
    }
}
