private import JSON

/// A JWS in compact serialization (RFC 7515, section 7.1) that has been taken apart but **not verified**.
///
/// A class, since it goes through many hands on its way and has many parts: each copy would count references to all of them.
public final class CompactJWS: Sendable {
    public let header: JOSEHeader
    /// The payload's octets. Nothing in them may be believed.
    package let payload: [UInt8]
    let signature: [UInt8]
    /// The octets that were signed: the first two parts with the full stop between them.
    let signingInput: ArraySlice<UInt8>
    /// The first part, as written.
    let headerText: ArraySlice<UInt8>

    /// Takes a compact serialization apart.
    ///
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    public convenience init(_ text: String) throws(JWSError) {
        try self.init(Array(text.utf8)[...])
    }

    /// Takes a compact serialization apart.
    ///
    /// - Parameters:
    ///   - text: kept by the result, not copied.
    ///   - memo: the headers that this thread has seen before.
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    package init(_ text: ArraySlice<UInt8>, memo: JOSEHeaderMemo? = nil) throws(JWSError) {
        // Two full stops make a JWS, four a JWE.
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
        let (headerEnd, payloadEnd) = (text.startIndex + first, text.startIndex + second)
        let headerText = text[..<headerEnd]
        let payloadText = text[(headerEnd + 1)..<payloadEnd]
        let signatureText = text[(payloadEnd + 1)...]
        if let known = memo?[headerText] {
            header = known
        } else {
            guard let json = Base64URL.decode(headerText.span) else { throw .malformed(.header) }
            header = try JOSEHeader(json)
        }
        guard let payload = Base64URL.decode(payloadText.span) else { throw .malformed(.payload) }
        guard let signature = Base64URL.decode(signatureText.span) else { throw .malformed(.signature) }
        self.payload = payload
        self.signature = signature
        self.headerText = headerText
        signingInput = text[..<payloadEnd]
    }
}
