internal import IDToken
package import JOSE
package import OAuth

/// Which encrypted tokens of a provider are opened, and which of its tokens must be encrypted.
package struct EncryptionRules: Sendable, Equatable {
    /// The IDs of the keys that open them; `nil`: all.
    package var keys: [String]?
    package var algorithms = KeyManagementAlgorithm.allCases
    package var content = ContentAlgorithm.allCases
    /// What the provider must encrypt.
    package var required: Set<Kind> = []

    /// What a provider may encrypt.
    package enum Kind: String, CaseIterable, Sendable {
        case idToken = "id_token"
        case userInfo = "user_info"
        case response
        case notification
    }

    package init() {}
}

/// The rules of a provider's encrypted tokens, with the keys that open them.
package struct TokenEncryption: Sendable {
    package let rules: EncryptionRules
    private let keys: ClientKeys
    private let algorithms: Set<KeyManagementAlgorithm>
    private let content: Set<ContentAlgorithm>

    package init(_ rules: EncryptionRules, _ keys: ClientKeys) {
        self.rules = rules
        self.keys = keys
        algorithms = Set(rules.algorithms)
        content = Set(rules.content)
    }

    /// Opens tokens with the keys of now.
    private var decrypter: JWEDecrypter {
        JWEDecrypter(keys.encryption(named: rules.keys), algorithms: algorithms, content: content)
    }

    /// Reads an encrypted token, and refuses it for everything that its header shows.
    ///
    /// - Throws: ``Problem/encryption(_:)``.
    package func read(_ text: ArraySlice<UInt8>) throws(Problem) -> CompactJWE {
        do throws(JWEError) {
            let jwe = try CompactJWE(text)
            _ = try decrypter.checkHeader(jwe.header)
            return jwe
        } catch {
            throw Problem(error)
        }
    }

    /// Opens an encrypted token.
    ///
    /// - Throws: ``Problem/encryption(_:)``; ``Problem/rejected(_:of:)`` if OpenSSL fails.
    package func open(_ jwe: CompactJWE) throws(Problem) -> OpenedToken {
        do throws(JWEError) {
            let content = try decrypter.decrypt(jwe)[...]
            // Two dots in a signed token, four in an encrypted one.
            switch content.count(where: { $0 == UInt8(ascii: ".") }) {
            case 2: return OpenedToken(content: content, encryption: EncryptionFacts(jwe.header))
            case 4: throw .headerUnsupported
            default: throw .malformed(.payload)
            }
        } catch {
            throw Problem(error)
        }
    }
}

/// The signed token that was inside an encrypted one. It is not verified yet.
package struct OpenedToken: Sendable {
    package let content: ArraySlice<UInt8>
    package let encryption: EncryptionFacts
}

/// Why an encrypted token was not opened, or a plain one refused.
package enum EncryptionFault: Sendable, Equatable {
    case malformed
    case headerUnsupported
    case algorithmNotAllowed
    /// Its content is no signed token.
    case contentMalformed
    case failed
    case required(EncryptionRules.Kind)

    var words: (code: String, title: String) {
        let rejection: Rejection
        switch self {
        // Of any part: they share the words.
        case .malformed, .contentMalformed: rejection = .tokenMalformed(.payload)
        case .headerUnsupported: rejection = .headerUnsupported
        case .algorithmNotAllowed: rejection = .algorithmNotAllowed
        case .failed: return ("decryption_failed", "Decryption failed")
        case .required: return ("encryption_required", "Encryption required")
        }
        return (rejection.code.rawValue, rejection.title)
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
