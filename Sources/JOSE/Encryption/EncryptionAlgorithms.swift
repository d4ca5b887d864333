package import OpenSSL

/// How the key of an encrypted token is agreed or encrypted: `alg` (RFC 7518, section 4.1).
///
/// Those with a secret that both sides share (`dir`, `A128KW` and the like, `PBES2`) have no place in tokens of a
/// provider, and the padding of `RSA1_5` is an oracle.
package enum KeyManagementAlgorithm: String, Sendable, CaseIterable {
    case ecdhES = "ECDH-ES"
    case ecdhESA128KW = "ECDH-ES+A128KW"
    case ecdhESA192KW = "ECDH-ES+A192KW"
    case ecdhESA256KW = "ECDH-ES+A256KW"
    case rsaOAEP = "RSA-OAEP"
    case rsaOAEP256 = "RSA-OAEP-256"

    enum Method {
        /// - Parameter wrapping: the size of the agreed key, which wraps the content's key; `nil` if it is that key.
        case agreement(wrapping: AESKeySize?)
        /// - Parameter digest: `nil` for SHA-1.
        case oaep(DigestAlgorithm?)
    }

    var method: Method {
        switch self {
        case .ecdhES: .agreement(wrapping: nil)
        case .ecdhESA128KW: .agreement(wrapping: .bits128)
        case .ecdhESA192KW: .agreement(wrapping: .bits192)
        case .ecdhESA256KW: .agreement(wrapping: .bits256)
        case .rsaOAEP: .oaep(nil)
        case .rsaOAEP256: .oaep(.sha256)
        }
    }

    /// The key that follows from an agreed secret: that of the content, or the one that wraps it.
    ///
    /// - Parameters:
    ///   - wrapping: the size of a key that wraps; `nil` for the key of the content.
    ///   - parties: `apu` and `apv`.
    /// - Throws: ``OpenSSLError`` when out of memory.
    /// - Source: RFC 7518, section 4.6.2.
    func key(
        from secret: SecretBytes, wrapping: AESKeySize?, for content: ContentAlgorithm, parties: [[UInt8]]
    ) throws(OpenSSLError) -> SecretBytes {
        let length = wrapping?.length ?? content.keyLength
        // *OtherInfo*. For the key of the content, `enc` names what it is for; for one that wraps it, `alg` does.
        var information: [UInt8] = []
        for part in [Array((wrapping == nil ? content.rawValue : rawValue).utf8)] + parties {
            information += UInt32(part.count).bigEndianOctets + part
        }
        return try concatenationKey(
            from: secret, information + UInt32(length * 8).bigEndianOctets, length: length)
    }

    /// Whether a key of this kind can do it.
    package func fits(_ kind: DecryptionKeyKind) -> Bool {
        switch (method, kind) {
        case (.agreement, .agreement), (.oaep, .rsa): true
        case (.agreement, .rsa), (.oaep, .agreement): false
        }
    }
}

/// How the content of an encrypted token is encrypted and authenticated: `enc` (RFC 7518, section 5.1).
package enum ContentAlgorithm: String, Sendable, CaseIterable {
    case a128GCM = "A128GCM"
    case a192GCM = "A192GCM"
    case a256GCM = "A256GCM"
    case a128CBCHS256 = "A128CBC-HS256"
    case a192CBCHS384 = "A192CBC-HS384"
    case a256CBCHS512 = "A256CBC-HS512"

    private enum Method {
        case gcm(AESKeySize)
        /// - Parameter digest: of the HMAC, half of which is the tag.
        case cbc(AESKeySize, DigestAlgorithm)
    }

    private var method: Method {
        switch self {
        case .a128GCM: .gcm(.bits128)
        case .a192GCM: .gcm(.bits192)
        case .a256GCM: .gcm(.bits256)
        case .a128CBCHS256: .cbc(.bits128, .sha256)
        case .a192CBCHS384: .cbc(.bits192, .sha384)
        case .a256CBCHS512: .cbc(.bits256, .sha512)
        }
    }

    /// The length of the content's key in octets.
    var keyLength: Int {
        switch method {
        case .gcm(let size): size.length
        // A key for the HMAC, and one for the cipher.
        case .cbc(let size, _): 2 * size.length
        }
    }

    /// In octets.
    var vectorLength: Int {
        switch method {
        case .gcm: AuthenticatedCipher.nonceLength
        case .cbc: BlockCipher.blockLength
        }
    }

    /// In octets.
    var tagLength: Int {
        switch method {
        case .gcm: AuthenticatedCipher.tagLength
        case .cbc(_, let digest): digest.outputLength / 2
        }
    }

    /// Decrypts a content, after it has been authenticated.
    ///
    /// - Parameters:
    ///   - key: of ``keyLength``.
    ///   - vector: of ``vectorLength``.
    ///   - tag: of ``tagLength``.
    ///   - clear: what is authenticated beside it.
    /// - Returns: `nil` if anything of it was changed, or encrypted with another key.
    /// - Throws: ``OpenSSLError`` when out of memory.
    func open(
        _ text: [UInt8], _ key: SecretBytes, vector: [UInt8], tag: [UInt8], beside clear: Span<UInt8>
    ) throws(OpenSSLError) -> SecretBytes? {
        switch method {
        case .gcm(let size):
            return try AuthenticatedCipher(size).open(
                (text + tag).span, under: key, nonce: vector.span, beside: clear)
        case .cbc(let size, let digest):
            let code = try Self.code(of: text, size, digest, key, vector: vector, beside: clear)
            let isAuthentic = code.withBytes { constantTimeEquals($0.extracting(..<tag.count), tag.span) }
            guard isAuthentic else { return nil }
            return try BlockCipher.decrypt(
                text.span, size, key.extracting(size.length..<key.count), vector: vector.span)
        }
    }

    /// Encrypts and authenticates a content.
    ///
    /// - Parameters:
    ///   - key: of ``keyLength``.
    ///   - vector: of ``vectorLength``, never used before with this key.
    ///   - clear: what is authenticated beside it.
    /// - Throws: ``OpenSSLError`` when out of memory.
    func seal(
        _ text: Span<UInt8>, _ key: SecretBytes, vector: [UInt8], beside clear: Span<UInt8>
    ) throws(OpenSSLError) -> (text: [UInt8], tag: [UInt8]) {
        switch method {
        case .gcm(let size):
            let sealed = try AuthenticatedCipher(size).seal(text, under: key, nonce: vector.span, beside: clear)
            return (Array(sealed.dropLast(tagLength)), Array(sealed.suffix(tagLength)))
        case .cbc(let size, let digest):
            let sealed = try BlockCipher.encrypt(
                text, size, key.extracting(size.length..<key.count), vector: vector.span)
            let code = try Self.code(of: sealed, size, digest, key, vector: vector, beside: clear)
            return (sealed, code.withBytes { [UInt8](copying: $0.extracting(..<tagLength)) })
        }
    }

    /// The code of an encrypted content, half of which is the tag.
    ///
    /// - Throws: ``OpenSSLError`` when out of memory.
    /// - Source: RFC 7518, section 5.2.2.1.
    private static func code(
        of text: [UInt8], _ size: AESKeySize, _ digest: DigestAlgorithm, _ key: SecretBytes, vector: [UInt8],
        beside clear: Span<UInt8>
    ) throws(OpenSSLError) -> SecretBytes {
        var input = [UInt8](copying: clear)
        input += vector
        input += text
        for shift in stride(from: 56, through: 0, by: -8) {
            input.append(UInt8(truncatingIfNeeded: (clear.count * 8) >> shift))
        }
        return try MessageAuthenticator(key: key.extracting(0..<size.length), digest).code(of: input.span)
    }
}

extension UInt32 {
    fileprivate var bigEndianOctets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) } }
}

extension [UInt8] {
    init(copying octets: Span<UInt8>) {
        self = []
        reserveCapacity(octets.count)
        for index in octets.indices { append(octets[index]) }
    }
}
