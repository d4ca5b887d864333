private import Bytes
package import OpenSSL

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
        let (type, curve) =
            switch key.key.kind {
            case .rsa: ("RSA", nil as String?)
            case .agreement(.x25519): ("OKP", "X25519")
            case .agreement(let curve): ("EC", curve.rawValue)
            }
        publicKey(
            id: key.id, use: "enc", algorithm: key.algorithms[0].rawValue, type, curve,
            try key.key.publicComponents())
    }

    /// - Throws: ``OpenSSLError``.
    package mutating func publicKey(
        id: String, of key: SigningKey, _ algorithm: SignatureAlgorithm
    ) throws(OpenSSLError) {
        let (type, curve) =
            switch key.kind {
            case .rsa: ("RSA", nil as String?)
            case .ellipticCurve(let curve): ("EC", curve.rawValue)
            case .edwards(let curve): ("OKP", curve.rawValue)
            }
        publicKey(id: id, use: "sig", algorithm: algorithm.rawValue, type, curve, try key.publicComponents())
    }

    private mutating func publicKey(
        id: String, use: String, algorithm: String, _ type: String, _ curve: String?, _ components: PublicComponents
    ) {
        beginObject()
        member("kty", type)
        member("kid", id)
        member("use", use)
        member("alg", algorithm)
        if let curve { member("crv", curve) }
        for (name, octets) in components {
            self.name(escaping: name)
            value(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
        endObject()
    }
}
