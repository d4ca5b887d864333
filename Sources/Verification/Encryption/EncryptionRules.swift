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
