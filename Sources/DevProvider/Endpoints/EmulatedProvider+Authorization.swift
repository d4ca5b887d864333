internal import JSON

/// The authorization endpoint.
extension EmulatedProvider {
    /// The response to an authorization request.
    struct AuthorizationResponse {
        let redirectURI: String
        let mode: AuthorizationRequest.ResponseMode
        let parameters: [(name: String, value: String)]
    }

    /// What the person does on the page.
    enum Decision {
        case signIn(Person)
        case cancel
        /// `prompt=none`, but `login_hint` names no known person.
        case nobody
    }

    /// - Throws: ``OpenSSLError``.
    mutating func respond(
        to request: AuthorizationRequest, _ decision: Decision, now: Int64
    ) throws -> AuthorizationResponse {
        var parameters: [(name: String, value: String)] = []
        switch decision {
        case .cancel: parameters.append(("error", dialect.cancelError))
        case .nobody: parameters.append(("error", "login_required"))
        case .signIn(let person): parameters += try grant(request, to: person, now: now)
        }
        if let state = request.state { parameters.append(("state", state)) }
        if dialect.namesResponseIssuer { parameters.append(("iss", documentIssuer(ofTenant: nil))) }
        return AuthorizationResponse(redirectURI: request.redirectURI, mode: request.mode, parameters: parameters)
    }

    private mutating func grant(
        _ request: AuthorizationRequest, to person: Person, now: Int64
    ) throws -> [(name: String, value: String)] {
        let isFirst = grants.isFirst(person, clientID: request.client.id)
        let code = try grants.code(
            for: IssuedGrants.Authorization(
                person: person, clientID: request.client.id, redirectURI: request.redirectURI, nonce: request.nonce,
                challenge: request.challenge, scopes: request.scopes, authenticatedAt: now,
                expiresAt: now + IssuedGrants.codeLifetimeSeconds))
        var parameters = [(name: "code", value: code)]
        if request.wantsIDToken {
            let token = TokenRequest(
                person: person, clientID: request.client.id, nonce: request.nonce, scopes: request.scopes, code: code)
            parameters.append(
                ("id_token", try keys.sign(try idTokenClaims(token, now: now), type: dialect.headerType)))
        }
        if dialect.sendsUserOnce, isFirst, let user = try userObject(person, request.scopes) {
            parameters.append(("user", user))
        }
        return parameters
    }

    /// Apple's `user` object, which accompanies only the first code.
    private func userObject(_ person: Person, _ scopes: [String]) throws -> String? {
        var user: [String: JSONTree] = [:]
        if scopes.contains("name"), let given = person.givenName {
            user["name"] = .object([
                "firstName": .string(given), "lastName": .string(person.familyName ?? ""),
            ])
        }
        if scopes.contains("email"), let email = try userClaims(of: person, scopes: ["email"])["email"] {
            user["email"] = email
        }
        return user.isEmpty ? nil : String(decoding: JSONTree.object(user).json, as: UTF8.self)
    }

    /// A native app's code, which the provider's SDK returns together with the ID Token.
    ///
    /// - Throws: ``OpenSSLError``.
    mutating func nativeCode(_ person: Person, clientID: String, nonce: String?, now: Int64) throws -> String {
        try grants.code(
            for: IssuedGrants.Authorization(
                person: person, clientID: clientID, nonce: nonce, scopes: ["openid", "email", "profile", "name"],
                authenticatedAt: now, expiresAt: now + IssuedGrants.codeLifetimeSeconds))
    }
}
