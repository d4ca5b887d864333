private import IDToken
internal import JOSE

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
