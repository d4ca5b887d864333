package import JSON

/// The form of AWS's load balancers, which is not that of RFC 7515: each part is padded, and the padding is signed.
///
/// - Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html, "User claims
///   encoding and signature verification".
extension CompactJWS {
    /// Parses three parts of base64url, each with the padding that its length needs (RFC 4648, section 3.2).
    ///
    /// A signature of ES256 always needs padding, so no text has this form and that of RFC 7515.
    ///
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    package convenience init(padded text: ArraySlice<UInt8>) throws(JWSError) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw parts.count == 5 ? .encrypted : .malformed(.serialization) }
        guard let json = Base64URL.decode(padded: parts[0]) else { throw .malformed(.header) }
        let header = try JOSEHeader(json)
        guard let payload = Base64URL.decode(padded: parts[1]) else { throw .malformed(.payload) }
        guard let signature = Base64URL.decode(padded: parts[2]) else { throw .malformed(.signature) }
        self.init(
            uncacheable: header, payload: payload, signature: signature, text, headerEnd: parts[0].endIndex,
            payloadEnd: parts[1].endIndex)
    }

    /// The header's members, for those that no JWS verifier reads.
    package var headerObject: JSONObject? {
        let octets = Base64URL.decode(headerText.span) ?? Base64URL.decode(padded: headerText)
        return octets.flatMap { try? JSONObject($0) }
    }
}

extension Base64URL {
    /// Decodes base64url with padding: a multiple of four characters, of which the last one or two may be `=`. As
    /// without padding, no two texts decode to the same bytes.
    static func decode(padded text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return decode(text.span.extracting(..<(text.count - padding)))
    }
}
