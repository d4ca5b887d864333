extension Rejection: CustomStringConvertible {
    /// The stable ``code``, and why the token was rejected; safe to log. For people who must find the cause, the product
    /// TokenDiagnostics says more.
    public var description: String { "\(code.rawValue): \(reason)" }

    private var reason: String {
        switch self {
        case .tokenMalformed(let part): part.reason
        case .headerUnsupported: "the header has crit, b64 or zip, or a typ of another kind of token"
        case .algorithmNotAllowed: "alg is absent, unknown, or not allowed for this provider"
        case .keyNotFound: "no key of the provider fits the token's kid and alg"
        case .keyUnsuitable: "the key that the token names can't verify it"
        case .signatureInvalid: "the signature is wrong"
        case .issuerMismatch: "iss is not the provider's issuer"
        case .audienceMismatch: "aud is not accepted"
        case .audienceNotExpected: "aud is accepted, but is not the expected one"
        case .authorizedPartyMismatch: "azp is not accepted"
        case .tokenExpired: "exp has passed"
        case .tokenNotYetValid: "nbf or iat is in the future"
        case .tokenTooOld: "iat is too long ago"
        case .authTimeTooOld: "the user authenticated too long ago"
        case .sessionRevoked: "the user authenticated before the sessions were revoked"
        case .claimMissing(let claim): "\(claim.string) is missing"
        case .claimInvalid(let claim): "\(claim.string) has a value that is not accepted"
        case .nonceRequired: "the policy requires a nonce, and none was expected"
        case .nonceMissing: "a nonce was expected, and the token has none"
        case .nonceMismatch: "nonce is not the expected one"
        case .atHashMissing: "an access token was given, and the token has no at_hash"
        case .atHashMismatch: "at_hash is not that of the access token"
        case .cHashMissing: "a code was given, and the token has no c_hash"
        case .cHashMismatch: "c_hash is not that of the code"
        case .subjectMismatch: "the token is of another user than the expected one"
        case .scopeMissing: "the token does not grant a scope that is needed"
        case .tokenInactive: "the provider says that the token is not active"
        case .bindingRequired: "the token is bound to a key, and nothing proves that the sender has it"
        case .bindingMissing: "the token is not bound to a key that is demanded"
        case .bindingMismatch: "the token is bound to another key than the one that was proven"
        case .proofInvalid: "the DPoP proof proves nothing"
        case .proofNonceRequired: "the DPoP proof needs a current nonce"
        case .groupsOverage: "the provider left out the user's groups, which a rule needs"
        case .cryptographyUnavailable: "OpenSSL failed; the token may be valid"
        }
    }
}

extension Rejection.TokenPart {
    fileprivate var reason: String {
        switch self {
        case .empty: "the token is empty"
        case .tooLong: "the token is too long"
        case .encrypted: "the token is encrypted (JWE)"
        case .serialization: "the token is not three parts of base64url"
        case .header: "the header is not one strict JSON object in base64url"
        case .payload: "the payload is not one strict JSON object in base64url"
        case .signature: "the signature is not base64url"
        }
    }
}
