package import JOSE

/// Why a token was rejected.
///
/// Contains no text from the token, so it is safe to log. Callers may depend on ``code`` only, which is stable.
public enum Rejection: Error, Equatable, Sendable {
    case tokenMalformed(TokenPart)
    case headerUnsupported
    case algorithmNotAllowed
    case keyNotFound
    case keyUnsuitable
    case signatureInvalid
    case issuerMismatch
    case audienceMismatch
    /// The token is for another configured audience than the one that was expected.
    case audienceNotExpected
    case authorizedPartyMismatch
    case tokenExpired
    case tokenNotYetValid
    case tokenTooOld
    case authTimeTooOld
    case sessionRevoked
    case claimMissing(ClaimName)
    case claimInvalid(ClaimName)
    case nonceRequired
    case nonceMissing
    case nonceMismatch
    case atHashMissing
    case atHashMismatch
    case cHashMissing
    case cHashMismatch
    case subjectMismatch
    /// An access token does not grant a scope that the request needs.
    case scopeMissing
    /// The provider says that an opaque access token is not active: expired, revoked, or not one of its own.
    case tokenInactive
    /// An access token is bound to its client's key, and nothing proves that the sender has that key.
    case bindingRequired
    /// An access token is not bound to a key that the settings, or the evidence that came with it, demand.
    case bindingMissing
    /// An access token is bound to another key than the one that was proven.
    case bindingMismatch
    /// The DPoP proof that came with an access token proves nothing.
    case proofInvalid(ProofFault)
    /// The DPoP proof must have a nonce that the service has made in the last minutes.
    case proofNonceRequired
    /// A rule depends on the user's groups, and the provider left them out of the token because there are too many.
    case groupsOverage
    /// OpenSSL failed for a reason that no token can cause. The token may be valid.
    case cryptographyUnavailable

    /// Which part of the token is malformed.
    public enum TokenPart: Equatable, Sendable {
        case empty
        case tooLong
        case encrypted
        case serialization
        case header
        case payload
        case signature
    }

    /// The name of a rejection in Assay's HTTP contract.
    public enum Code: String, CaseIterable, Sendable {
        case tokenMalformed = "token_malformed"
        case headerUnsupported = "header_unsupported"
        case algorithmNotAllowed = "algorithm_not_allowed"
        case keyNotFound = "key_not_found"
        case keyUnsuitable = "key_unsuitable"
        case signatureInvalid = "signature_invalid"
        case issuerMismatch = "issuer_mismatch"
        case audienceMismatch = "audience_mismatch"
        case authorizedPartyMismatch = "authorized_party_mismatch"
        case tokenExpired = "token_expired"
        case tokenNotYetValid = "token_not_yet_valid"
        case tokenTooOld = "token_too_old"
        case authTimeTooOld = "auth_time_too_old"
        case sessionRevoked = "session_revoked"
        case claimMissing = "claim_missing"
        case claimInvalid = "claim_invalid"
        case nonceRequired = "nonce_required"
        case nonceMissing = "nonce_missing"
        case nonceMismatch = "nonce_mismatch"
        case atHashMissing = "at_hash_missing"
        case atHashMismatch = "at_hash_mismatch"
        case cHashMissing = "c_hash_missing"
        case cHashMismatch = "c_hash_mismatch"
        case subjectMismatch = "subject_mismatch"
        case scopeMissing = "scope_missing"
        case tokenInactive = "token_inactive"
        case bindingRequired = "binding_required"
        case bindingMissing = "binding_missing"
        case bindingMismatch = "binding_mismatch"
        case proofInvalid = "dpop_proof_invalid"
        case proofNonceRequired = "dpop_nonce_required"
        case groupsOverage = "groups_overage"
        case `internal` = "internal"
    }

    public var code: Code {
        switch self {
        case .tokenMalformed: .tokenMalformed
        case .headerUnsupported: .headerUnsupported
        case .algorithmNotAllowed: .algorithmNotAllowed
        case .keyNotFound: .keyNotFound
        case .keyUnsuitable: .keyUnsuitable
        case .signatureInvalid: .signatureInvalid
        case .issuerMismatch: .issuerMismatch
        case .audienceMismatch, .audienceNotExpected: .audienceMismatch
        case .authorizedPartyMismatch: .authorizedPartyMismatch
        case .tokenExpired: .tokenExpired
        case .tokenNotYetValid: .tokenNotYetValid
        case .tokenTooOld: .tokenTooOld
        case .authTimeTooOld: .authTimeTooOld
        case .sessionRevoked: .sessionRevoked
        case .claimMissing: .claimMissing
        case .claimInvalid: .claimInvalid
        case .nonceRequired: .nonceRequired
        case .nonceMissing: .nonceMissing
        case .nonceMismatch: .nonceMismatch
        case .atHashMissing: .atHashMissing
        case .atHashMismatch: .atHashMismatch
        case .cHashMissing: .cHashMissing
        case .cHashMismatch: .cHashMismatch
        case .subjectMismatch: .subjectMismatch
        case .scopeMissing: .scopeMissing
        case .tokenInactive: .tokenInactive
        case .bindingRequired: .bindingRequired
        case .bindingMissing: .bindingMissing
        case .bindingMismatch: .bindingMismatch
        case .proofInvalid: .proofInvalid
        case .proofNonceRequired: .proofNonceRequired
        case .groupsOverage: .groupsOverage
        case .cryptographyUnavailable: .internal
        }
    }

    /// The claim that is missing or invalid.
    public var claim: ClaimName? {
        switch self {
        case .claimMissing(let claim), .claimInvalid(let claim): claim
        default: nil
        }
    }

    /// The same as an error of JOSE, if other keys of the provider could have made a difference; otherwise `nil`.
    package var keyFault: JWSError? {
        switch self {
        case .algorithmNotAllowed: .algorithmNotAllowed
        case .keyNotFound: .keyNotFound
        case .keyUnsuitable: .keyUnsuitable
        case .signatureInvalid: .signatureInvalid
        default: nil
        }
    }

    package init(_ error: JWSError) {
        self =
            switch error {
            case .malformed(.serialization): .tokenMalformed(.serialization)
            case .malformed(.header): .tokenMalformed(.header)
            case .malformed(.payload): .tokenMalformed(.payload)
            case .malformed(.signature): .tokenMalformed(.signature)
            case .encrypted: .tokenMalformed(.encrypted)
            case .headerUnsupported: .headerUnsupported
            case .algorithmNotAllowed: .algorithmNotAllowed
            case .keyNotFound: .keyNotFound
            case .keyUnsuitable: .keyUnsuitable
            case .signatureInvalid: .signatureInvalid
            case .cryptographyUnavailable: .cryptographyUnavailable
            }
    }
}

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
