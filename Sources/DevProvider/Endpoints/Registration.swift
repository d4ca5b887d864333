private import Bytes
internal import JOSE

/// Dynamic client registration, which MCP clients use.
extension EmulatedProvider {
    /// Registers a client without a secret, whatever authentication it asks for.
    ///
    /// - Returns: the client's ID and metadata.
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    /// - Source: RFC 7591, section 3.
    mutating func register(_ metadata: [String: JSONTree], now: Int64) throws -> JSONTree {
        guard let uris = metadata["redirect_uris"]?.array?.map(\.string), !uris.isEmpty, uris.count <= 16 else {
            throw DevOAuthError.invalidRedirectURI
        }
        let redirectURIs = uris.compactMap(\.self)
        // Other hosts belong to real clients.
        guard redirectURIs.count == uris.count,
            redirectURIs.allSatisfy({ $0.utf8.count <= 2048 && HostName(ofURL: $0)?.isOfDevelopment == true })
        else { throw DevOAuthError.invalidRedirectURI }
        let id = try randomName()
        if registered.count >= Self.registrationCapacity { registered.removeAll() }
        registered[id] = DevClient(id: id, redirectURIs: redirectURIs, authentication: .none)
        var members: [String: JSONTree] = [
            "client_id": .string(id), "client_id_issued_at": .integer(now),
            "redirect_uris": .array(redirectURIs.map(JSONTree.string)),
            "token_endpoint_auth_method": .string("none"),
            "grant_types": .array([.string("authorization_code"), .string("refresh_token")]),
            "response_types": .array([.string("code")]),
        ]
        for name in ["client_name", "scope"] {
            if let text = metadata[name]?.string { members[name] = .string(text) }
        }
        return .object(members)
    }

    private static let registrationCapacity = 1000
}
