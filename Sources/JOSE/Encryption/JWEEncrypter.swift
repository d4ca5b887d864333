private import Bytes
package import OpenSSL

/// Encrypts tokens to a key of a relying party, as its providers do (RFC 7516, section 5.1). Only the public half of the
/// key is used.
package struct JWEEncrypter: Sendable {
    private let recipient: EncryptionKey
    package let algorithm: KeyManagementAlgorithm
    package let content: ContentAlgorithm

    /// - Returns: `nil` if the key is not for this algorithm.
    package init?(to recipient: EncryptionKey, _ algorithm: KeyManagementAlgorithm, _ content: ContentAlgorithm) {
        guard recipient.algorithms.contains(algorithm) else { return nil }
        self.recipient = recipient
        self.algorithm = algorithm
        self.content = content
    }

    /// Encrypts a signed JWT.
    ///
    /// - Returns: a JWE in compact serialization.
    /// - Throws: ``OpenSSLError`` when out of memory.
    package func encrypt(_ token: Span<UInt8>) throws(OpenSSLError) -> [UInt8] {
        let made = try makeContentKey()
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", algorithm.rawValue)
        header.member("enc", content.rawValue)
        header.member("kid", recipient.id)
        header.member("cty", "JWT")
        if let sender = made.sender { try header.senderKey(sender) }
        header.endObject()
        let clear = Base64URL.encode(header.bytes)
        let vector = try randomBytes(content.vectorLength)
        let sealed = try content.seal(token, made.octets, vector: vector, beside: clear.span)
        let parts = [made.encrypted, vector, sealed.text, sealed.tag].map { Base64URL.encode($0) }
        return Array(([clear] + parts).joined(separator: [UInt8(ascii: ".")]))
    }

    /// A key for one content.
    private struct ContentKey {
        let octets: SecretBytes
        /// Empty if the key was agreed.
        let encrypted: [UInt8]
        /// `nil` if none was needed.
        var sender: DecryptionKey?
    }

    private func makeContentKey() throws(OpenSSLError) -> ContentKey {
        switch (algorithm.method, recipient.key.kind) {
        case (.oaep(let digest), .rsa):
            let octets = try SecretBytes(random: content.keyLength)
            return ContentKey(octets: octets, encrypted: try recipient.key.encrypt(octets, oaep: digest))
        case (.agreement(let wrapping), .agreement(let curve)):
            let sender = try DecryptionKey(generating: .agreement(curve))
            let coordinates = try recipient.key.publicComponents().map(\.octets)
            let agreed = try sender.agree(
                with: AgreementPoint(curve, x: coordinates[0], y: coordinates.count > 1 ? coordinates[1] : nil))
            guard agreed.isRight else { throw .unspecified }
            let derived = try algorithm.key(
                from: agreed.octets, wrapping: wrapping, for: content, parties: [[], []])
            guard let wrapping else { return ContentKey(octets: derived, encrypted: [], sender: sender) }
            let octets = try SecretBytes(random: content.keyLength)
            return ContentKey(
                octets: octets, encrypted: try BlockCipher.wrap(octets, wrapping, derived), sender: sender)
        // No ``EncryptionKey`` has an algorithm of another kind of key.
        case (.oaep, .agreement), (.agreement, .rsa): throw .unspecified
        }
    }
}

extension JSONWriter {
    /// `epk` (RFC 7518, section 4.6.1.1).
    ///
    /// - Parameter key: made only for an agreement, so it has a curve.
    /// - Throws: ``OpenSSLError``.
    fileprivate mutating func senderKey(_ key: DecryptionKey) throws(OpenSSLError) {
        name("epk")
        beginObject()
        member("kty", key.kind.names.type)
        member("crv", key.kind.names.curve)
        members(try key.publicComponents())
        endObject()
    }
}
