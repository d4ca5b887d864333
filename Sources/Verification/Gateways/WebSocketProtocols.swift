private import Bytes
private import JOSE

/// The list of protocols in the handshake of a WebSocket, divided into a token and the protocols that remain.
///
/// - Source: RFC 6455, section 4.1; kubernetes.io, "WebSocket authentication" (`base64url.bearer.authorization.k8s.io`).
struct WebSocketProtocols {
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
            .map { $0.drop(while: \.isBlank).trimmingBlanks() }.filter { !$0.isEmpty }
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
