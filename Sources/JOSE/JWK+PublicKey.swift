private import JSON
internal import OpenSSL

extension JWK {
    /// - Parameter pem: one public key in PEM (RFC 7468, section 13).
    /// - Returns: `nil` for anything else, and for a key that is neither an RSA key nor on a NIST curve.
    package convenience init?(keyID: String, publicKey pem: [UInt8]) {
        guard let key = decodedPublicKey(pem: pem.span) else { return nil }
        self.init(keyID: keyID, key)
    }

    /// The JWK of a key that was published in another form.
    convenience init?(keyID: String, _ key: DecodedPublicKey) {
        var members: [String: JSONTree] = ["kid": .string(keyID), "use": .string("sig")]
        switch key.kind {
        case .rsa: members["kty"] = .string("RSA")
        case .ellipticCurve(let curve):
            members["kty"] = .string("EC")
            members["crv"] = .string(curve.rawValue)
        case .edwards: return nil
        }
        for (name, octets) in key.components {
            members[name] = .string(String(decoding: Base64URL.encode(octets), as: UTF8.self))
        }
        self.init(members)
    }
}
