private import Bytes

/// A JWS in compact serialization (RFC 7515, section 7.1) that has been parsed but **not verified**.
///
/// A class, because it is passed through many functions and has many parts: each copy of a struct would retain all of
/// them.
public final class CompactJWS: Sendable {
    public let header: JOSEHeader
    /// The payload. Don't trust anything in it.
    package let payload: [UInt8]
    package let signature: [UInt8]
    /// Whether a ``JOSEHeaderCache`` may keep the header: it is base64url without padding, and not from the cache.
    let isHeaderCacheable: Bool
    private let text: ArraySlice<UInt8>
    /// The ends of the first two parts.
    private let (headerEnd, payloadEnd): (Int, Int)

    /// The bytes that were signed: the first two parts and the dot between them.
    var signingInput: ArraySlice<UInt8> { text[..<payloadEnd] }
    /// The whole serialization.
    package var octets: ArraySlice<UInt8> { text }
    /// The first part, as written.
    package var headerText: ArraySlice<UInt8> { text[..<headerEnd] }

    /// Parses a compact serialization.
    ///
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    public convenience init(_ text: String) throws(JWSError) {
        try self.init(Array(text.utf8)[...])
    }

    /// Parses a compact serialization.
    ///
    /// The parameters are borrowed, because an initializer would otherwise retain them once more.
    ///
    /// - Parameters:
    ///   - text: kept by the result, not copied.
    ///   - headerCache: headers that this thread has parsed before.
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    package init(_ text: borrowing ArraySlice<UInt8>, headerCache: borrowing JOSEHeaderCache = JOSEHeaderCache())
        throws(JWSError)
    {
        // A JWS has two dots, a JWE four.
        let bytes = text.span
        let stop = UInt8(ascii: ".")
        guard let first = bytes.firstIndex(of: stop), let second = bytes.firstIndex(of: stop, from: first + 1) else {
            throw .malformed(.serialization)
        }
        if let third = bytes.firstIndex(of: stop, from: second + 1) {
            let fourth = bytes.firstIndex(of: stop, from: third + 1)
            let isJWE = fourth.map { bytes.firstIndex(of: stop, from: $0 + 1) == nil } ?? false
            throw isJWE ? .encrypted : .malformed(.serialization)
        }
        let headerText = bytes.extracting(..<first)
        if let known = headerCache[headerText] {
            header = known
            isHeaderCacheable = false
        } else {
            guard let json = Base64URL.decode(headerText) else { throw .malformed(.header) }
            header = try JOSEHeader(json)
            isHeaderCacheable = true
        }
        guard let payload = Base64URL.decode(bytes.extracting((first + 1)..<second)) else { throw .malformed(.payload) }
        guard let signature = Base64URL.decode(bytes.extracting((second + 1)...)) else {
            throw .malformed(.signature)
        }
        self.payload = payload
        self.signature = signature
        self.text = copy text
        headerEnd = text.startIndex + first
        payloadEnd = text.startIndex + second
    }

    /// Parses the form of AWS's load balancers, which is not that of RFC 7515: each part has the padding that its
    /// length needs (RFC 4648, section 3.2), and the padding is signed.
    ///
    /// A signature of ES256 always needs padding, so no text has this form and that of RFC 7515.
    ///
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    /// - Source: docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html, "User
    ///   claims encoding and signature verification".
    package init(padded text: ArraySlice<UInt8>) throws(JWSError) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw parts.count == 5 ? .encrypted : .malformed(.serialization) }
        guard let json = Base64URL.decode(padded: parts[0]) else { throw .malformed(.header) }
        header = try JOSEHeader(json)
        guard let payload = Base64URL.decode(padded: parts[1]) else { throw .malformed(.payload) }
        guard let signature = Base64URL.decode(padded: parts[2]) else { throw .malformed(.signature) }
        self.payload = payload
        self.signature = signature
        self.text = text
        headerEnd = parts[0].endIndex
        payloadEnd = parts[1].endIndex
        isHeaderCacheable = false
    }

    /// The header's members, for those that no JWS verifier reads.
    package var headerObject: JSONObject? {
        let octets = Base64URL.decode(headerText.span) ?? Base64URL.decode(padded: headerText)
        return octets.flatMap { try? JSONObject($0) }
    }
}
