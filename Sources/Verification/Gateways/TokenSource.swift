private import Bytes

/// A part of a request that can contain its token.
package enum TokenSource: Sendable, Equatable {
    /// A header field. Its name and the scheme before the token are compared without regard to case. If the scheme is
    /// `nil`, the value is the token.
    case header(String, scheme: String?)
    /// A cookie, by its name, byte for byte.
    ///
    /// - Parameter isChunked: whether a token that is too long for one cookie may be in several: `name.0`, `name.1`, …,
    ///   or `name_0`, `name_1`, ….
    case cookie(String, isChunked: Bool = false)
    /// The list of protocols in the handshake of a WebSocket, where a browser can put no other header. Pages of any site
    /// can open a WebSocket, so only those of these origins count.
    case webSocketProtocol(origins: [String])

    /// `Authorization: Bearer …` (RFC 6750, section 2.1).
    package static let bearer = TokenSource.header("Authorization", scheme: "Bearer")

    var headerName: String? { if case .header(let name, _) = self { name } else { nil } }

    fileprivate var isOfWebSocket: Bool { if case .webSocketProtocol = self { true } else { false } }
}

/// The token of a request that a gateway asks about.
package struct SentToken {
    package let text: ArraySlice<UInt8>
    /// Whether it is under the `Authorization` scheme `DPoP`.
    package let isUnderProofScheme: Bool
    /// The protocols for the backend, without a token, if the request is the handshake of a WebSocket whose list may
    /// contain one.
    package let webSocketProtocols: String?
}

/// The header fields of the request that a gateway asks about.
package protocol RequestFields {
    /// The values of all fields with a name, without regard to case.
    func values(named name: String) -> [ArraySlice<UInt8>]
}

extension ForwardAuthPolicy {
    /// The request's token, from the first source that the request has, whether the token is valid or not.
    ///
    /// A second token in the same source is an error, because gateway and backend could disagree about which counts.
    ///
    /// - Throws: ``Denial/tokenMissing``, ``Denial/tokenUnreadable``.
    /// - Source: RFC 6750, section 3.1: a request that uses more than one method, or is otherwise malformed.
    package func token(in fields: some RequestFields) throws(Denial) -> SentToken {
        let protocols =
            sources.contains(where: \.isOfWebSocket) ? try WebSocketProtocols(inHandshake: fields) : nil
        for source in sources {
            var isUnderProofScheme = false
            var token: ArraySlice<UInt8>?
            switch source {
            case .header(let name, let scheme):
                let values = fields.values(named: name)
                token = try Self.token(in: values, after: scheme)
                if token == nil, takesProofs, scheme != nil, name.isAuthorization {
                    token = try Self.token(in: values, after: Self.proofScheme)
                    isUnderProofScheme = token != nil
                }
            case .cookie(let name, let isChunked):
                token = try Cookies(fields.values(named: "Cookie")).value(of: name, isChunked: isChunked)
            case .webSocketProtocol(let origins):
                token = fields.isFrom(oneOf: origins) ? protocols?.token : nil
            }
            guard let token else { continue }
            guard token.span.isToken else { throw .tokenUnreadable }
            return SentToken(
                text: token, isUnderProofScheme: isUnderProofScheme, webSocketProtocols: protocols?.others)
        }
        throw .tokenMissing
    }

    /// - Source: RFC 9449, section 7.1.
    static let proofScheme = "DPoP"

    /// - Returns: `nil` if there is no such field, or if it has a different scheme.
    private static func token(
        in values: [ArraySlice<UInt8>], after scheme: String?
    ) throws(Denial) -> ArraySlice<UInt8>? {
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw .tokenUnreadable }
        guard let scheme = scheme?.utf8 else { return value }
        // A tab ends the scheme as well: some servers accept a token after a tab, so such a field must not count as
        // absent.
        let word = value.prefix { !$0.isBlank }
        guard word.span.isEqualIgnoringCase(to: scheme.span) else { return nil }
        return value.dropFirst(word.count).drop { $0 == UInt8(ascii: " ") }
    }
}

extension String {
    fileprivate var isAuthorization: Bool { utf8.span.isEqualIgnoringCase(to: "Authorization".utf8.span) }
}

extension RequestFields {
    /// Whether a browser sent the request for a page of one of these origins.
    fileprivate func isFrom(oneOf origins: [String]) -> Bool {
        let values = values(named: "Origin")
        guard values.count == 1, let origin = values.first else { return false }
        return origins.contains { $0.isExactly(origin.span) }
    }
}

extension Span<UInt8> {
    /// Whether this can be a token: not empty, and nothing but the characters of a `b64token`.
    var isToken: Bool {
        var index = endOfAlphanumerics(from: 0)
        while index < count, self[index].isTokenPunctuation { index = endOfAlphanumerics(from: index + 1) }
        return index == count && count > 0
    }
}

extension UInt8 {
    /// The characters of a `b64token` other than letters and digits (RFC 6750, section 2.1).
    fileprivate var isTokenPunctuation: Bool {
        self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "_") || self == UInt8(ascii: "~")
            || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") || self == UInt8(ascii: "=")
    }
}
