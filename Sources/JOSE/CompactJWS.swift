/// A JWS in compact serialization (RFC 7515, section 7.1) that has been taken apart but **not verified**.
public struct CompactJWS: Sendable {
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
    public init(_ text: String) throws(JWSError) {
        try self.init(Array(text.utf8)[...])
    }

    /// Takes a compact serialization apart.
    ///
    /// - Parameters:
    ///   - text: kept by the result, not copied.
    ///   - memo: the headers that this thread has seen before.
    /// - Throws: ``JWSError/malformed(_:)``, ``JWSError/encrypted``.
    package init(_ text: ArraySlice<UInt8>, memo: JOSEHeaderMemo? = nil) throws(JWSError) {
        // Two full stops make a JWS, four a JWE; what follows a fifth is not searched through.
        var stops: [Int] = []
        stops.reserveCapacity(4)
        for index in text.indices where text[index] == UInt8(ascii: ".") {
            stops.append(index)
            if stops.count > 4 { break }
        }
        guard stops.count == 2 else { throw stops.count == 4 ? .encrypted : .malformed(.serialization) }
        let headerText = text[..<stops[0]]
        let payloadText = text[(stops[0] + 1)..<stops[1]]
        let signatureText = text[(stops[1] + 1)...]
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
        signingInput = text[..<stops[1]]
    }
}
