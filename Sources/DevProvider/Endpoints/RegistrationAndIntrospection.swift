private import Bytes
private import IDToken
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

/// The introspection endpoint of a provider whose access tokens are opaque.
extension EmulatedProvider {
    /// What the provider says of an access token.
    ///
    /// The claims of the token may replace each member, also `active`. An expired token is not forgotten, so that the
    /// service can say that it has expired.
    ///
    /// - Throws: ``DevOAuthError``.
    /// - Source: RFC 7662, section 2.
    func introspect(_ form: FormParameters, authorization: String?, now: Int64) throws -> Introspection {
        let client = try authenticate(form, authorization, now: now)
        guard let text = form["token"] else { throw DevOAuthError.invalidRequest }
        guard let token = grants.opaqueToken(text) else {
            return Introspection(clientID: client.id, members: ["active": .bool(false)])
        }
        let isBound = token.claims["cnf"]?.object?["jkt"] != nil
        let members: [String: JSONTree] = ["active": .bool(true), "token_type": .string(isBound ? "DPoP" : "Bearer")]
        return Introspection(clientID: client.id, members: members.merging(token.claims) { $1 })
    }

    struct Introspection {
        /// Who asked.
        let clientID: String
        let members: [String: JSONTree]
    }

    /// The same in a JWT.
    ///
    /// - Throws: ``OpenSSLError``.
    /// - Source: RFC 9701, section 5.
    func sign(_ introspection: Introspection, now: Int64) throws -> String {
        let claims: [String: JSONTree] = [
            "iss": .string(policy.issuer), "aud": .string(introspection.clientID), "iat": .integer(now),
            "token_introspection": .object(introspection.members),
        ]
        return try keys.sign(claims, type: "token-introspection+jwt")
    }
}
