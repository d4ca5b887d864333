private import COpenSSL

extension Certificate {
    /// Reads the first certificate of a PEM file; `nil` if there is none that can be decoded.
    package init?(pem: Span<UInt8>) {
        guard let block = PEMBlock.all(in: pem).first(where: { $0.label == "CERTIFICATE" }),
            let der = block.decoded(from: pem)
        else { return nil }
        self.init(der)
    }

    /// Whether it certifies the public half of this key.
    package func matches(_ key: SigningKey) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_private_key(pointer, key.pointer) == 1
    }

    /// The SHA-256 of its DER: `x5t#S256` before base64url (RFC 7515, section 4.1.8).
    package var thumbprint: [UInt8]? {
        defer { ERR_clear_error() }
        var digest = [UInt8](repeating: 0, count: DigestAlgorithm.sha256.outputLength)
        var length = CUnsignedInt(0)
        guard unsafe X509_digest(pointer, DigestAlgorithm.sha256.pointer, &digest, &length) == 1 else { return nil }
        return length == digest.count ? digest : nil
    }
}
