private import JSON
private import OpenSSL

extension JWKSet {
    /// Reads a JSON object whose members are PEM certificates by the `kid` of their key, as Google publishes the keys
    /// of Firebase.
    ///
    /// Only the key in a certificate is used. Its signature and dates are ignored: as with a JWK, the key is trusted
    /// because of where it was fetched. A certificate that can't be used is skipped.
    ///
    /// - Throws: ``ReadingError``.
    package init(certificates json: [UInt8]) throws(ReadingError) {
        guard let entries = (try? JSONTree(readingObject: json))?.object else { throw .malformed }
        guard entries.count <= Self.maximumKeys else { throw .tooManyKeys }
        self.init(
            keys: entries.sorted { $0.key < $1.key }.compactMap { keyID, value in
                guard !DevelopmentKeys.contain(keyID) else { return nil }
                return value.string.flatMap { JWK(keyID: keyID, certificate: $0) }
            })
        guard keys.contains(where: \.isUsable) else { throw .noUsableKey }
    }
}

extension JWK {
    /// - Parameter certificate: PEM (RFC 7468) with one certificate.
    convenience init?(keyID: String, certificate: String) {
        guard let der = Self.der(ofCertificate: certificate), let certificate = Certificate(der),
            let key = certificate.publicKey
        else { return nil }
        self.init(keyID: keyID, key)
    }

    /// - Source: RFC 7468, sections 2 and 5.
    private static func der(ofCertificate pem: String) -> [UInt8]? {
        let lines = pem.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        guard lines.first == "-----BEGIN CERTIFICATE-----", lines.last == "-----END CERTIFICATE-----" else {
            return nil
        }
        return Base64URL.decodeLeniently(lines.dropFirst().dropLast().joined())
    }
}
