private import Bytes
private import JOSE
private import OpenSSL

/// Names a client's certificate by the SHA-256 of its DER.
///
/// - Source: RFC 8705, section 3.1.
public struct CertificateThumbprint: Sendable, Equatable {
    /// In 43 characters of base64url, as `x5t#S256` is written.
    public let text: String

    /// - Parameter text: the certificate in PEM, which may be percent-encoded, or as base64 of its DER; or its SHA-256
    ///   in base64url.
    /// - Returns: `nil` for anything else, and for PEM with more than one certificate: which of them is the client's
    ///   depends on who wrote it.
    public init?(_ text: String) {
        if text.utf8.count == Self.length {
            self.init(digest: Base64URL.decode(text.utf8.span))
        } else {
            self.init(digest: Self.digest(ofPEM: text) ?? Base64URL.decodeLeniently(text).flatMap(Self.digest(ofDER:)))
        }
    }

    /// - Parameter digest: of the DER.
    private init?(digest: [UInt8]?) {
        guard let digest, digest.count == Self.digestLength else { return nil }
        text = String(decoding: Base64URL.encode(digest), as: UTF8.self)
    }

    private static let length = 43
    private static let digestLength = 32

    /// - Parameter text: one certificate in PEM, which may be percent-encoded.
    private static func digest(ofPEM text: String) -> [UInt8]? {
        guard let plain = percentDecoded(text), isOneBlock(plain) else { return nil }
        return Certificate(onlyIn: plain.span)?.thumbprint
    }

    /// Whether there is nothing around one block. A proxy may join two fields with a comma, and a reader of PEM skips what
    /// is before a block and after it.
    private static func isOneBlock(_ pem: [UInt8]) -> Bool {
        let parts = String(decoding: pem, as: UTF8.self).split(separator: "-----", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty else { return false }
        return parts[4].utf8.allSatisfy { $0 == 0x0a || $0 == 0x0d || $0 == 0x20 || $0 == 0x09 }
    }

    private static func digest(ofDER der: [UInt8]) -> [UInt8]? { Certificate(der)?.thumbprint }
}

/// How a gateway writes the client's certificate into a header field. The raw values are the names in the settings.
package enum CertificateForm: String, Sendable, CaseIterable {
    /// PEM, which may be percent-encoded.
    case pem
    /// Base64 of DER between colons, as in `Client-Cert`.
    case rfc9440
    /// Envoy's `X-Forwarded-Client-Cert`.
    case xfcc
}

extension CertificateThumbprint {
    /// Reads the value of a header field.
    ///
    /// - Returns: `nil` unless it contains one certificate in this form.
    /// - Source: RFC 9440, section 2.1; RFC 8941, section 3.3.5; Envoy, "x-forwarded-client-cert".
    package init?(_ value: String, in form: CertificateForm) {
        switch form {
        case .pem: self.init(digest: Self.digest(ofPEM: value))
        case .rfc9440: self.init(digest: Self.byteSequence(value).flatMap(Self.digest(ofDER:)))
        case .xfcc:
            guard let element = ForwardedClientCertificate(value) else { return nil }
            let stated = element.hash.flatMap { [UInt8](hexadecimal: $0) }
            let found = element.certificate.flatMap(Self.digest(ofPEM:))
            // One that can't be read counts as one that is there.
            guard (stated == nil) == (element.hash == nil), (found == nil) == (element.certificate == nil),
                stated == nil || found == nil || stated == found
            else { return nil }
            self.init(digest: stated ?? found)
        }
    }

    private static func byteSequence(_ value: String) -> [UInt8]? {
        guard value.utf8.count > 2, value.hasPrefix(":"), value.hasSuffix(":") else { return nil }
        let base64 = value.dropFirst().dropLast()
        guard base64.utf8.allSatisfy({ $0.isLetterOrDigit || "+/=".utf8.contains($0) }) else { return nil }
        return Base64URL.decodeLeniently(String(base64))
    }
}

/// The only element of a field `X-Forwarded-Client-Cert`: pairs such as `Hash=…`, separated by semicolons.
private struct ForwardedClientCertificate {
    private(set) var hash: String?
    private(set) var certificate: String?

    /// - Returns: `nil` if there is another element, a pair twice, or a quotation mark without its end. Elements before
    ///   or after could come from another proxy, or from the client.
    init?(_ value: String) {
        var rest = Array(value.utf8)[...]
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            // A name with a separator would hide a pair, or an element, of which only the value follows.
            guard !rest[..<equals].contains(where: ";,".utf8.contains) else { return nil }
            let name = String(decoding: rest[..<equals], as: UTF8.self).lowercased()
            rest = rest[(equals + 1)...]
            guard let text = Self.value(&rest) else { return nil }
            switch name {
            case "hash" where hash == nil: hash = text
            case "cert" where certificate == nil: certificate = text
            case "hash", "cert": return nil
            default: break
            }
            guard let separator = rest.popFirst() else { return }
            guard separator == UInt8(ascii: ";") else { return nil }
        }
        return nil
    }

    /// Reads the value of a pair, up to the separator after it.
    private static func value(_ rest: inout ArraySlice<UInt8>) -> String? {
        var octets: [UInt8] = []
        let isQuoted = rest.first == UInt8(ascii: "\"")
        if isQuoted { rest.removeFirst() }
        while let octet = rest.first {
            if !isQuoted, ";,".utf8.contains(octet) { break }
            rest.removeFirst()
            if isQuoted, octet == UInt8(ascii: "\"") { return String(decoding: octets, as: UTF8.self) }
            guard isQuoted, octet == UInt8(ascii: "\\") else {
                octets.append(octet)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            octets.append(escaped)
        }
        return isQuoted ? nil : String(decoding: octets, as: UTF8.self)
    }
}
