internal import IDToken
internal import JOSE

/// Why an encrypted token was not opened, or a plain one refused.
package enum EncryptionFault: Sendable, Equatable {
    case malformed
    case headerUnsupported
    case algorithmNotAllowed
    /// Its content is no signed token.
    case contentMalformed
    case failed
    case required(EncryptionRules.Kind)

    var code: String {
        switch self {
        case .malformed, .contentMalformed: Rejection.Code.tokenMalformed.rawValue
        case .headerUnsupported: Rejection.Code.headerUnsupported.rawValue
        case .algorithmNotAllowed: Rejection.Code.algorithmNotAllowed.rawValue
        case .failed: "decryption_failed"
        case .required: "encryption_required"
        }
    }

    var title: String {
        switch self {
        case .malformed, .contentMalformed: "Malformed token"
        case .headerUnsupported: "Unsupported token header"
        case .algorithmNotAllowed: "Algorithm not allowed"
        case .failed: "Decryption failed"
        case .required: "Encryption required"
        }
    }

    var detail: String {
        switch self {
        case .malformed:
            "The token has five parts, like an encrypted one, but a part is not unpadded base64url, or its header is not one JSON object with members of the right types; send it exactly as the provider issued it."
        case .headerUnsupported:
            "The header of the encrypted token has crit, b64, zip, or a cty other than JWT, or another encrypted token is inside; have the provider encrypt one signed JWT, uncompressed."
        case .algorithmNotAllowed:
            "The alg or enc of the encrypted token is not allowed for this provider; check encryption.algorithms and encryption.content, and what is registered at the provider (RSA1_5, dir, and keys that are wrapped by a shared secret are always refused)."
        case .contentMalformed:
            "The encrypted token was opened, but no signed JWT is inside; have the provider sign the token first, and then encrypt it."
        case .failed:
            "The encrypted token can't be opened: it was encrypted to another key, or changed; check that the provider reads the current keys from /v1/jwks, and keep a replaced key until no token can be encrypted to it."
        case .required(let kind):
            "The \(kind.noun) is not encrypted, but encryption.required demands it; have the provider encrypt it to a key of /v1/jwks (gateways can't open encrypted tokens, so send them access tokens)."
        }
    }
}

extension EncryptionRules.Kind {
    fileprivate var noun: String {
        switch self {
        case .idToken: "ID Token"
        case .userInfo: "UserInfo answer"
        case .response: "response"
        case .notification: "notification"
        }
    }
}

extension Problem {
    init(_ error: JWEError) {
        self =
            switch error {
            case .malformed(.payload): .encryption(.contentMalformed)
            case .malformed: .encryption(.malformed)
            case .headerUnsupported: .encryption(.headerUnsupported)
            case .algorithmNotAllowed: .encryption(.algorithmNotAllowed)
            case .decryptionFailed: .encryption(.failed)
            case .cryptographyUnavailable: .rejected(.cryptographyUnavailable)
            }
    }
}
