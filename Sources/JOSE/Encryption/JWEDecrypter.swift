private import Bytes
package import OpenSSL

/// Opens JWEs (RFC 7516, section 5.2) with the keys of one relying party.
package struct JWEDecrypter: Sendable {
    private let keys: [EncryptionKey]
    private let algorithms: Set<KeyManagementAlgorithm>
    private let content: Set<ContentAlgorithm>

    /// - Parameters:
    ///   - algorithms: those that senders may use.
    ///   - content: those that senders may use.
    package init(
        _ keys: [EncryptionKey], algorithms: Set<KeyManagementAlgorithm>, content: Set<ContentAlgorithm>
    ) {
        self.keys = keys
        self.algorithms = algorithms
        self.content = content
    }

    /// The content of a JWE, which its sender need not have signed.
    ///
    /// Everything that only the header decides is refused first, without a private operation. After that, a failure
    /// takes the same calls as a success: the key that was recovered is replaced by a random one, by mask, so that
    /// neither the answer nor its time says what failed (RFC 7516, section 11.5).
    ///
    /// - Throws: ``JWEError``, but for `malformed`.
    package func decrypt(_ jwe: CompactJWE) throws(JWEError) -> [UInt8] {
        let (algorithm, content) = try checkHeader(jwe.header)
        guard let (key, isTheOne) = key(for: jwe.header, algorithm) else { throw .decryptionFailed }
        let opened: SecretBytes?
        do throws(OpenSSLError) {
            opened = try open(jwe, algorithm, content, key, isTheOne: isTheOne)
        } catch {
            throw .cryptographyUnavailable
        }
        guard let opened else { throw .decryptionFailed }
        return opened.withBytes { [UInt8](copying: $0) }
    }

    private func open(
        _ jwe: CompactJWE, _ algorithm: KeyManagementAlgorithm, _ content: ContentAlgorithm, _ key: EncryptionKey,
        isTheOne: Bool
    ) throws(OpenSSLError) -> SecretBytes? {
        let random = try SecretBytes(random: content.keyLength)
        guard let recovered = try key.recover(jwe, algorithm, content) else { return nil }
        let contentKey = try recovered.octets.selected(by: mask(isTheOne, recovered.isRight), else: random)
        let (vector, hasVector) = jwe.vector.sized(content.vectorLength)
        let (tag, hasTag) = jwe.tag.sized(content.tagLength)
        let opened = try content.open(jwe.text, contentKey, vector: vector, tag: tag, beside: jwe.headerText.span)
        return hasVector && hasTag ? opened : nil
    }

    /// Runs the checks that need no private key.
    ///
    /// - Throws: ``JWEError/headerUnsupported``, ``JWEError/algorithmNotAllowed``.
    package func checkHeader(
        _ header: JWEHeader
    ) throws(JWEError) -> (algorithm: KeyManagementAlgorithm, content: ContentAlgorithm) {
        guard !header.hasUnsupportedParameter else { throw .headerUnsupported }
        guard let algorithm = header.algorithm, let content = header.content, algorithms.contains(algorithm),
            self.content.contains(content)
        else { throw .algorithmNotAllowed }
        return (algorithm, content)
    }

    /// The key that a header names, or the only one that fits it.
    ///
    /// - Returns: a key of the algorithm's kind, and whether it is the right one. Without any, no private operation is
    ///   possible: everyone may know that, because these keys are published.
    private func key(
        for header: JWEHeader, _ algorithm: KeyManagementAlgorithm
    ) -> (key: EncryptionKey, isTheOne: Bool)? {
        let able = keys.filter { $0.algorithms.contains(algorithm) }
        if let id = header.keyID, let named = able.first(where: { $0.id.isExactly(id) }) { return (named, true) }
        let fitting = able.filter { $0.isOn(header.sender?.curve) }
        if header.keyID == nil, fitting.count == 1 { return (fitting[0], true) }
        return (fitting.first ?? able.first).map { ($0, false) }
    }
}

extension EncryptionKey {
    /// The content's key.
    ///
    /// - Returns: a key of the right length, also if it can't be recovered; `nil` for an algorithm of another kind of key.
    /// - Throws: ``OpenSSLError`` when out of memory.
    fileprivate func recover(
        _ jwe: CompactJWE, _ algorithm: KeyManagementAlgorithm, _ content: ContentAlgorithm
    ) throws(OpenSSLError) -> RecoveredKey? {
        let length = content.keyLength
        switch (algorithm.method, key.kind) {
        case (.oaep(let digest), .rsa(let modulusLength)):
            let (encrypted, isSized) = jwe.encryptedKey.sized(modulusLength)
            let recovered = try key.decrypt(encrypted.span, oaep: digest, expecting: length)
            return RecoveredKey(octets: recovered.octets, isRight: recovered.isRight && isSized)
        case (.agreement(let wrapping), .agreement):
            let agreed = try key.agree(with: jwe.header.sender?.point)
            let derived = try algorithm.key(
                from: agreed.octets, wrapping: wrapping, for: content, parties: jwe.header.parties)
            guard let wrapping else {
                return RecoveredKey(octets: derived, isRight: agreed.isRight && jwe.encryptedKey.isEmpty)
            }
            let (wrapped, isSized) = jwe.encryptedKey.sized(length + 8)
            let recovered = try BlockCipher.unwrap(wrapped.span, wrapping, derived)
            return RecoveredKey(
                octets: recovered.octets, isRight: recovered.isRight && agreed.isRight && isSized)
        case (.oaep, .agreement), (.agreement, .rsa): return nil
        }
    }
}

extension [UInt8] {
    /// These octets if there are as many as needed, and as many zeros otherwise, with which nothing can be opened.
    fileprivate func sized(_ length: Int) -> (octets: [UInt8], isSized: Bool) {
        count == length ? (self, true) : ([UInt8](repeating: 0, count: length), false)
    }
}

/// 255 if both are true, otherwise 0.
private func mask(_ first: Bool, _ second: Bool) -> UInt8 { 0 &- ((first ? 1 : 0) & (second ? 1 : 0)) }

/// A private key of a relying party that opens tokens encrypted to it, with the algorithms that it is for.
package struct EncryptionKey: Sendable {
    /// `kid`, which senders name.
    package let id: String
    let key: DecryptionKey
    /// At least one. The first is the one that senders are told.
    package let algorithms: [KeyManagementAlgorithm]

    /// - Returns: `nil` if there are no algorithms, or one does not fit the key.
    package init?(id: String, _ key: DecryptionKey, _ algorithms: [KeyManagementAlgorithm]) {
        guard !algorithms.isEmpty, algorithms.allSatisfy({ $0.fits(key.kind) }) else { return nil }
        self.id = id
        self.key = key
        self.algorithms = algorithms
    }

    /// Whether the key can agree with a sender's key on this curve.
    func isOn(_ curve: AgreementCurve?) -> Bool {
        switch key.kind {
        case .rsa: true
        case .agreement(let own): own == curve
        }
    }
}

/// A public key of a relying party in the form of a JWK (RFC 7517, section 4).
extension JSONWriter {
    /// - Throws: ``OpenSSLError``.
    package mutating func publicKey(of key: EncryptionKey) throws(OpenSSLError) {
        let components = try key.key.publicComponents()
        publicKey(id: key.id, use: "enc", algorithm: key.algorithms[0].rawValue, key.key.kind.names, components)
    }

    /// - Throws: ``OpenSSLError``.
    package mutating func publicKey(
        id: String, of key: SigningKey, _ algorithm: SignatureAlgorithm
    ) throws(OpenSSLError) {
        publicKey(id: id, use: "sig", algorithm: algorithm.rawValue, key.kind.names, try key.publicComponents())
    }

    private mutating func publicKey(
        id: String, use: String, algorithm: String, _ names: (type: String, curve: String?),
        _ components: PublicComponents
    ) {
        beginObject()
        member("kty", names.type)
        member("kid", id)
        member("use", use)
        member("alg", algorithm)
        if let curve = names.curve { member("crv", curve) }
        members(components)
        endObject()
    }
}

extension DecryptionKeyKind {
    /// `kty`, and `crv` if the type has curves (RFC 7518, section 6; RFC 8037, section 2).
    var names: (type: String, curve: String?) {
        switch self {
        case .rsa: ("RSA", nil)
        case .agreement(let curve): (curve == .x25519 ? "OKP" : "EC", curve.rawValue)
        }
    }
}
