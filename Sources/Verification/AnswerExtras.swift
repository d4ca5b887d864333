internal import JOSE

/// What only some answers have. One reference, so that an answer without them checks only once.
final class AnswerExtras: Sendable {
    let includesClaims: Bool
    /// `nil` if the token was not encrypted.
    let encryption: EncryptionFacts?

    /// The backend's ID of the connection; `nil` unless the provider has `issuers: any`.
    let connection: String?

    static let claims = AnswerExtras(includesClaims: true, nil, connection: nil)

    init(includesClaims: Bool, _ encryption: EncryptionFacts?, connection: String?) {
        self.includesClaims = includesClaims
        self.encryption = encryption
        self.connection = connection
    }

    /// - Returns: `nil` if the answer has none.
    static func needed(includesClaims: Bool, _ connection: Connection?) -> AnswerExtras? {
        guard let connection else { return includesClaims ? .claims : nil }
        return AnswerExtras(includesClaims: includesClaims, nil, connection: connection.id)
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
