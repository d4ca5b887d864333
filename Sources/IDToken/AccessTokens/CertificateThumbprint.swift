private import Bytes
private import JOSE
private import OpenSSL

/// Names a client's certificate by the SHA-256 of its DER.
///
/// - Source: RFC 8705, section 3.1.
package struct CertificateThumbprint: Sendable, Equatable {
    /// In 43 characters of base64url, as `x5t#S256` is written.
    let text: String

    /// - Parameter text: the certificate in PEM, which may be percent-encoded, or as base64 of its DER; or its SHA-256
    ///   in base64url.
    /// - Returns: `nil` for anything else, and for PEM with more than one certificate: which of them is the client's
    ///   depends on who wrote it.
    package init?(_ text: String) {
        if text.utf8.count == Self.length {
            guard Base64URL.decode(text.utf8.span) != nil else { return nil }
            self.text = text
            return
        }
        guard let plain = percentDecoded(text) else { return nil }
        let certificate =
            plain.starts(with: "-----".utf8)
            ? Certificate(onlyIn: plain.span)
            : Base64URL.decodeLeniently(text).flatMap { Certificate($0) }
        guard let digest = certificate?.thumbprint else { return nil }
        self.text = String(decoding: Base64URL.encode(digest), as: UTF8.self)
    }

    private static let length = 43
}
