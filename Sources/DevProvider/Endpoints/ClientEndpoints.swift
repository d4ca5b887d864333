private import Bytes
private import IDToken
internal import JOSE
private import OpenSSL

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
        registered.keep(DevClient(id: id, redirectURIs: redirectURIs, authentication: .none), as: id, capacity: 1000)
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
}

/// The introspection endpoint of a provider whose access tokens are opaque.
extension EmulatedProvider {
    /// The response to a question about an access token (RFC 7662, section 2.2).
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
    /// - Source: RFC 9701, section 5.
    func sign(_ introspection: Introspection, now: Int64) throws -> String {
        let claims: [String: JSONTree] = [
            "iss": .string(policy.issuer), "aud": .string(introspection.clientID), "iat": .integer(now),
            "token_introspection": .object(introspection.members),
        ]
        return try keys.sign(claims, type: "token-introspection+jwt")
    }
}

/// The authorization requests that clients have pushed (RFC 9126). Uses neither a clock nor HTTP.
struct PushedRequests {
    private var requests: [String: (parameters: FormParameters, clientID: String, expiresAt: Int64)] = [:]

    static let lifetimeSeconds: Int64 = 90
    private static let prefix = "urn:ietf:params:oauth:request_uri:"

    /// - Returns: the `request_uri`.
    /// - Throws: ``OpenSSLError``.
    fileprivate mutating func add(_ parameters: FormParameters, of clientID: String, now: Int64) throws -> String {
        let uri = Self.prefix + (try randomName())
        requests.keep((parameters, clientID, now + Self.lifetimeSeconds), as: uri)
        return uri
    }

    /// - Parameter now: `nil` if it does not matter whether the request has expired.
    fileprivate func parameters(_ uri: String, of clientID: String?, now: Int64?) -> FormParameters? {
        guard let request = requests[uri], request.clientID == clientID, now.map({ $0 < request.expiresAt }) ?? true
        else { return nil }
        return request.parameters
    }
}

/// The pushed authorization request endpoint, and requests that are references or signed.
extension EmulatedProvider {
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func push(_ form: FormParameters, authorization: String?, now: Int64) throws -> JSONTree {
        let client = try authenticate(form, authorization, now: now)
        guard form["request_uri"] == nil, form["client_id"] == client.id else { throw DevOAuthError.invalidRequest }
        do {
            let parameters = try unwrapped(form, of: client, now: now)
            _ = try AuthorizationRequest(parameters, to: self)
            let uri = try pushed.add(parameters, of: client.id, now: now)
            return .object([
                "request_uri": .string(uri), "expires_in": .integer(PushedRequests.lifetimeSeconds),
            ])
        } catch is DevRequestError {
            throw DevOAuthError.invalidRequest
        }
    }

    /// The authorization request of a query: its own parameters, or those that it refers to or contains.
    ///
    /// - Parameter now: `nil` if it does not matter whether the request has expired.
    /// - Throws: ``DevRequestError``.
    func request(_ query: FormParameters, now: Int64?) throws -> AuthorizationRequest {
        if let uri = query["request_uri"] {
            guard let parameters = pushed.parameters(uri, of: query["client_id"], now: now) else {
                throw DevRequestError("request_uri is not one of this client's, or has expired; push the request again")
            }
            return try AuthorizationRequest(parameters, to: self)
        }
        guard let client = query["client_id"].flatMap(client) else {
            return try AuthorizationRequest(query, to: self)
        }
        if client.mustPush {
            throw DevRequestError(
                "the client \(client.id) must push its requests to \(base)/par; request_uri is missing")
        }
        return try AuthorizationRequest(try unwrapped(query, of: client, now: now), to: self)
    }

    /// The parameters of a request, or those of the request object in it. Any key is accepted, because the files that the
    /// settings name are not opened.
    ///
    /// - Throws: ``DevRequestError``.
    private func unwrapped(_ form: FormParameters, of client: DevClient, now: Int64?) throws -> FormParameters {
        guard let object = form["request"] else {
            if client.mustSign {
                throw DevRequestError("the client \(client.id) must sign its requests; request is missing")
            }
            return form
        }
        guard let jws = try? CompactJWS(object), let claims = (try? JSONTree(readingObject: jws.payload))?.object,
            let expiresAt = claims["exp"]?.integer, let notBefore = claims["nbf"]?.integer
        else { throw DevRequestError("request is not a JWT with exp and nbf") }
        guard claims["iss"] == .string(client.id), claims["client_id"] == .string(client.id),
            claims["aud"] == .string(documentIssuer(ofTenant: nil))
        else { throw DevRequestError("iss and client_id of request must be the client, and aud the issuer") }
        guard now.map({ notBefore <= $0 + 10 && $0 < expiresAt }) ?? true else {
            throw DevRequestError("the request object has expired, or is not valid yet")
        }
        return FormParameters(claims)
    }
}
