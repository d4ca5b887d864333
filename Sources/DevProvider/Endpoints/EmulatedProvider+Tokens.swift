internal import IDToken
internal import JSON

/// The token, revocation and UserInfo endpoints.
extension EmulatedProvider {
    /// The token endpoint's response.
    ///
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func grant(_ form: FormParameters, authorization: String?, now: Int64) throws -> JSONTree {
        let client = try authenticate(form, authorization, now: now)
        let tokens: IssuedGrants.Tokens
        var nonce: String?
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"] else { throw DevOAuthError.invalidRequest }
            guard !faults.has(.spentCodes) else { throw DevOAuthError.invalidGrant }
            tokens = try grants.exchange(
                code, clientID: client.id, redirectURI: form["redirect_uri"], verifier: form["code_verifier"], now: now)
            nonce = tokens.authorization.nonce
        case "refresh_token":
            guard let token = form["refresh_token"] else { throw DevOAuthError.invalidRequest }
            // TN3107: Apple answers a refresh with invalid_request once the user has revoked access.
            let isRequest = settings.quirks.contains(.revokedIsInvalidRequest)
            tokens = try grants.refresh(
                token, clientID: client.id, rotates: !settings.quirks.contains(.refreshTokensStay),
                whenRevoked: isRequest ? .invalidRequest : .invalidGrant)
        default: throw DevOAuthError.unsupportedGrantType
        }
        return .object(try members(of: tokens, nonce: nonce, now: now))
    }

    private func members(of tokens: IssuedGrants.Tokens, nonce: String?, now: Int64) throws -> [String: JSONTree] {
        let authorization = tokens.authorization
        let request = TokenRequest(
            person: authorization.person, clientID: authorization.clientID, nonce: nonce, scopes: authorization.scopes,
            authenticatedAt: authorization.authenticatedAt, accessToken: tokens.accessToken)
        var members: [String: JSONTree] = [
            "access_token": .string(tokens.accessToken), "expires_in": .integer(3600),
            "id_token": .string(try keys.sign(try idTokenClaims(request, now: now), type: dialect.headerType)),
        ]
        if !settings.quirks.contains(.noTokenType) { members["token_type"] = .string("Bearer") }
        if let refreshToken = tokens.refreshToken { members["refresh_token"] = .string(refreshToken) }
        if !authorization.scopes.isEmpty, !dialect.sendsUserOnce {
            members["scope"] = .string(authorization.scopes.joined(separator: " "))
        }
        return members
    }

    /// - Throws: ``DevOAuthError``.
    mutating func revoke(_ form: FormParameters, authorization: String?, now: Int64) throws {
        _ = try authenticate(form, authorization, now: now)
        guard let token = form["token"] else { throw DevOAuthError.invalidRequest }
        grants.revoke(token)
    }

    /// The person's claims; `nil` if the access token is not valid.
    ///
    /// - Throws: ``OpenSSLError``.
    func userInfo(authorization: String?) throws -> JSONTree? {
        guard let token = authorization?.dropFirstWord("Bearer"),
            let granted = grants.authorization(ofAccessToken: token)
        else { return nil }
        return .object(try userClaims(of: granted.person, scopes: granted.scopes))
    }

    private func authenticate(_ form: FormParameters, _ authorization: String?, now: Int64) throws -> DevClient {
        let proof = try ClientAuthentication(form, authorization: authorization)
        let audiences = [policy.issuer, documentIssuer(ofTenant: nil), base + "/token"]
        guard !faults.has(.refusedClients), let client = client(proof.clientID),
            proof.isAccepted(for: client, audiences: audiences, now: now)
        else { throw DevOAuthError.invalidClient }
        return client
    }
}
