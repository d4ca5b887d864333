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
        percentDecoded(text).flatMap { content(ofPEM: $0.span) }.flatMap(digest(ofDER:))
    }

    /// The content of one block, with nothing but white space after it. A proxy may join two fields with a comma, and
    /// readers of PEM skip what is before a block and after it.
    ///
    /// - Source: RFC 7468, section 5.1.
    private static func content(ofPEM text: Span<UInt8>) -> [UInt8]? {
        var end = text.count
        while end > 0, text[end - 1].isWhiteSpace { end -= 1 }
        guard end >= begin.count + Self.end.count, text.extracting(..<begin.count).isExactly(begin.span),
            text.extracting((end - Self.end.count)..<end).isExactly(Self.end.span)
        else { return nil }
        return Base64URL.decodeLines(text.extracting(begin.count..<(end - Self.end.count)))
    }

    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)

    /// A certificate is compared with the hash of the one that the token's issuer has seen. So it is not decoded: with any
    /// other content, the hash would be another one.
    private static func digest(ofDER der: [UInt8]) -> [UInt8]? {
        guard der.span.isCertificate else { return nil }
        return try? DigestContext().digest(der.span, with: .sha256)
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x0a || self == 0x0d || self == 0x20 || self == 0x09 }
}

extension Span<UInt8> {
    /// Whether this is one certificate in DER, judged by its outline: what is to be signed, an algorithm, and a signature.
    ///
    /// - Source: RFC 5280, section 4.1; X.690, sections 8.1 and 10.1.
    fileprivate var isCertificate: Bool {
        guard let content = content(ofElement: 0x30, at: 0), content.upperBound == count else { return false }
        var position = content.lowerBound
        for tag: UInt8 in [0x30, 0x30, 0x03] {
            guard let content = self.content(ofElement: tag, at: position) else { return false }
            position = content.upperBound
        }
        return position == count
    }

    /// The place of an element's content; `nil` unless the element has this tag and a length in DER, and is whole.
    private func content(ofElement tag: UInt8, at position: Int) -> Range<Int>? {
        guard position + 1 < count, self[position] == tag else { return nil }
        var (start, length) = (position + 2, Int(self[position + 1]))
        if length >= 0x80 {
            let octets = length & 0x7f
            // No certificate is longer than three octets can say. The shortest form is the only one.
            guard (1...3).contains(octets), start + octets <= count else { return nil }
            length = (0..<octets).reduce(0) { $0 << 8 | Int(self[start + $1]) }
            guard length >= (octets == 1 ? 0x80 : 1 << (8 * (octets - 1))) else { return nil }
            start += octets
        }
        return start + length <= count ? start..<(start + length) : nil
    }
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
