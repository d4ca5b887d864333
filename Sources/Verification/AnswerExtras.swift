package import JOSE

/// What only some answers have. One reference, so that an answer without them checks only once.
final class AnswerExtras: Sendable {
    let includesClaims: Bool
    /// `nil` if the token was not encrypted.
    let encryption: EncryptionFacts?

    static let claims = AnswerExtras(includesClaims: true, nil)

    init(includesClaims: Bool, _ encryption: EncryptionFacts?) {
        self.includesClaims = includesClaims
        self.encryption = encryption
    }
}

/// How a token was encrypted, as answers say it.
package struct EncryptionFacts: Sendable {
    private let algorithm: String?
    private let content: String?
    private let keyID: String?

    init(_ header: JWEHeader) {
        algorithm = header.algorithm?.rawValue
        content = header.content?.rawValue
        keyID = header.keyID
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.member("algorithm", algorithm)
            json.member("content", content)
            json.member("key_id", keyID)
        }
    }
}
