private import Bytes

/// A JWS in compact serialization (RFC 7515, section 7.1) that has been taken apart but **not verified**.
///
/// A class, since it goes through many hands on its way and has many parts: each copy would count references to all of them.
public final class CompactJWS: Sendable {
    public let header: JOSEHeader
    /// The payload's octets. Nothing in them may be believed.
    package let payload: [UInt8]
    package let signature: [UInt8]
    /// Whether the header was read before, for a token that verified.
    let isHeaderCached: Bool
    private let text: ArraySlice<UInt8>
    /// Where the first two parts end.
    private let (headerEnd, payloadEnd): (Int, Int)

    /// The octets that were signed: the first two parts with the full stop between them.
    var signingInput: ArraySlice<UInt8> { text[..<payloadEnd] }
    /// The first part, as written.
    package var headerText: ArraySlice<UInt8> { text[..<headerEnd] }

    /// Takes a compact serialization apart.
    ///
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    public convenience init(_ text: String) throws(JWSError) {
        try self.init(Array(text.utf8)[...])
    }

    /// Takes a compact serialization apart.
    ///
    /// What it is given is borrowed: an initializer's own references would be counted once more.
    ///
    /// - Parameters:
    ///   - text: kept by the result, not copied.
    ///   - headerCache: the headers that this thread has seen before.
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    package init(_ text: borrowing ArraySlice<UInt8>, headerCache: borrowing JOSEHeaderCache = JOSEHeaderCache())
        throws(JWSError)
    {
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
        let headerText = bytes.extracting(..<first)
        if let known = headerCache[headerText] {
            header = known
            isHeaderCached = true
        } else {
            guard let json = Base64URL.decode(headerText) else { throw .malformed(.header) }
            header = try JOSEHeader(json)
            isHeaderCached = false
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
}
