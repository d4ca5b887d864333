private import Bytes
private import JOSE

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
    /// Whether this can be a token: not empty, and nothing but the characters of a `b64token`, wherever `=` stands.
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

/// The cookies of a request (RFC 6265, section 4.2).
private struct Cookies {
    /// In the order of the request. Spaces and tabs before `=` are not part of a name, as in section 5.2 and in many
    /// servers.
    private let pairs: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)]

    /// The largest number of cookies that one token may be in.
    static let maximumChunks = 8

    /// - Parameter values: of all fields `Cookie`.
    init(_ values: [ArraySlice<UInt8>]) {
        pairs = values.flatMap { $0.split(separator: UInt8(ascii: ";")) }.compactMap { pair in
            let pair = pair.trimming(while: \.isBlank)
            guard let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return (pair[..<equals].trimming(while: \.isBlank), pair[(equals + 1)...].withoutQuotationMarks())
        }
    }

    /// The value of a cookie, without the quotation marks that may surround it.
    ///
    /// - Parameter isChunked: whether it may be divided among several cookies. Then both forms, or both separators, in
    ///   one request are an error: a part of an older token could be among them.
    /// - Returns: `nil` if there is no cookie with this name.
    /// - Throws: ``Denial/tokenUnreadable`` if there are two, or if a chunk is missing.
    func value(of name: String, isChunked: Bool) throws(Denial) -> ArraySlice<UInt8>? {
        let whole = try only(name)
        guard isChunked else { return whole }
        let (dotted, underscored) = (try chunks(name + "."), try chunks(name + "_"))
        switch (whole, dotted, underscored) {
        case (_, nil, nil): return whole
        case (nil, let chunks?, nil), (nil, nil, let chunks?): return chunks
        default: throw .tokenUnreadable
        }
    }

    private func only(_ name: String) throws(Denial) -> ArraySlice<UInt8>? {
        let found = pairs.filter { $0.name.elementsEqual(name.utf8) }
        guard found.count <= 1 else { throw .tokenUnreadable }
        return found.first?.value
    }

    /// The chunks with this prefix, joined in the order of their numbers; `nil` if there are none.
    private func chunks(_ prefix: String) throws(Denial) -> ArraySlice<UInt8>? {
        var values: [Int: ArraySlice<UInt8>] = [:]
        for (name, value) in pairs where name.starts(with: prefix.utf8) {
            // Others, such as `session.id`, are cookies of their own.
            guard let number = Int(decimal: name.dropFirst(prefix.utf8.count)) else { continue }
            guard number < Self.maximumChunks, values.updateValue(value, forKey: number) == nil else {
                throw .tokenUnreadable
            }
        }
        guard !values.isEmpty else { return nil }
        var whole: [UInt8] = []
        for number in 0..<values.count {
            guard let value = values[number] else { throw .tokenUnreadable }
            whole += value
        }
        return whole[...]
    }
}

extension Int {
    /// A number without a sign or superfluous zeros; `nil` for anything else. Large ones are all the same.
    fileprivate init?(decimal digits: ArraySlice<UInt8>) {
        guard let first = digits.first, digits.allSatisfy(\.isDigit), digits.count == 1 || first != UInt8(ascii: "0")
        else { return nil }
        self = digits.count > 3 ? .max : digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func withoutQuotationMarks() -> ArraySlice<UInt8> {
        let mark = UInt8(ascii: "\"")
        return count >= 2 && first == mark && last == mark ? dropFirst().dropLast() : self
    }
}

/// The list of protocols in the handshake of a WebSocket, divided into a token and the protocols that remain.
///
/// - Source: RFC 6455, section 4.1; kubernetes.io, "WebSocket authentication" (`base64url.bearer.authorization.k8s.io`).
private struct WebSocketProtocols {
    /// `nil` if the list contains none.
    let token: ArraySlice<UInt8>?
    /// The value of the header for the backend; `nil` if the client names no protocol.
    let others: String?

    private static let bearer = Array("bearer".utf8)
    private static let kubernetesPrefix = Array("base64url.bearer.authorization.k8s.io.".utf8)

    /// - Returns: `nil` if the request is no handshake of a WebSocket.
    /// - Throws: ``Denial/tokenUnreadable`` if the list contains two tokens, a part of one, or what can't be a name; or if
    ///   only Kubernetes' item would remain, because the backend must then choose a protocol that the client did not name.
    init?(inHandshake fields: some RequestFields) throws(Denial) {
        let upgrades = fields.values(named: "Upgrade")
        guard upgrades.count == 1, let upgrade = upgrades.first,
            upgrade.span.isEqualIgnoringCase(to: "websocket".utf8.span)
        else { return nil }
        let items = fields.values(named: "Sec-WebSocket-Protocol").flatMap { $0.split(separator: UInt8(ascii: ",")) }
            .map { $0.trimming(while: \.isBlank) }.filter { !$0.isEmpty }
        var tokens: [ArraySlice<UInt8>] = []
        var others: [ArraySlice<UInt8>] = []
        var isAfterBearer = false
        for item in items {
            if isAfterBearer {
                tokens.append(item)
                isAfterBearer = false
            } else if item.starts(with: Self.kubernetesPrefix) {
                let encoded = item.dropFirst(Self.kubernetesPrefix.count)
                guard let token = Base64URL.decode(encoded.span) else { throw .tokenUnreadable }
                tokens.append(token[...])
            } else {
                guard item.allSatisfy(\.isTokenCharacter) else { throw .tokenUnreadable }
                others.append(item)
                isAfterBearer = item.elementsEqual(Self.bearer)
            }
        }
        guard !isAfterBearer, tokens.count <= 1, tokens.isEmpty || !others.isEmpty else { throw .tokenUnreadable }
        token = tokens.first
        let names = others.map { String(decoding: $0, as: UTF8.self) }
        self.others = names.isEmpty ? nil : names.joined(separator: ", ")
    }
}
