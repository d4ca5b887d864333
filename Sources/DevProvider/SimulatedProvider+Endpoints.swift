private import Bytes
private import JOSE
internal import JSON
private import OpenSSL

/// The endpoints of OAuth 2.0: authorization, token, revocation and user info.
extension SimulatedProvider {
    /// The client secret that providers other than Apple expect.
    static let clientSecret = "dev-client-secret"

    /// What an authorization request is answered with.
    struct AuthorizationResponse {
        let redirectURI: String
        let parameters: [(name: String, value: String)]
        /// Whether the parameters are sent as a form (OAuth 2.0 Form Post Response Mode).
        let isForm: Bool
    }

    /// Signs the user in at once, or cancels if `login_hint` is `cancel`.
    ///
    /// - Throws: ``DevOAuthError`` for what a provider shows an error page for, or ``OpenSSLError``.
    mutating func authorize(_ query: FormParameters, now: Int64) throws -> AuthorizationResponse {
        guard query["client_id"] == audience else { throw DevOAuthError.invalidClient }
        guard let redirectURI = query["redirect_uri"],
            redirectURI.hasPrefix("https://") || redirectURI.hasPrefix("http://"),
            query["code_challenge"] == nil || query["code_challenge_method"] == "S256"
        else { throw DevOAuthError.invalidRequest }
        let types = (query["response_type"] ?? "").split(separator: " ")
        guard types.contains("code"), types.allSatisfy({ $0 == "code" || $0 == "id_token" }) else {
            throw DevOAuthError.unsupportedResponseType
        }
        let isForm = query["response_mode"] == "form_post"
        let scopes = (query["scope"] ?? "").split(separator: " ")
        // Apple sends a name, an address or a token only as a form.
        if kind == .apple, !isForm, !scopes.isEmpty || types.count > 1 { throw DevOAuthError.invalidRequest }
        var parameters: [(name: String, value: String)] = []
        if query["login_hint"] == "cancel" {
            parameters.append(("error", kind == .apple ? "user_cancelled_authorize" : "access_denied"))
        } else {
            let isFirst = !grants.isKnown
            let code = try grants.code(
                for: IssuedGrants.Authorization(
                    clientID: audience, redirectURI: redirectURI, nonce: query["nonce"],
                    challenge: query["code_challenge"], expiresAt: now + IssuedGrants.codeLifetimeSeconds))
            parameters.append(("code", code))
            if types.count > 1 { parameters.append(("id_token", try idToken(claiming: query["nonce"], now: now))) }
            if kind == .apple, isFirst, scopes.contains("name") {
                parameters.append(("user", #"{"name":{"firstName":"Kim","lastName":"Example"}}"#))
            }
        }
        if let state = query["state"] { parameters.append(("state", state)) }
        if kind == .google { parameters.append(("iss", issuer)) }
        return AuthorizationResponse(redirectURI: redirectURI, parameters: parameters, isForm: isForm)
    }

    /// A native app's code, as the provider's SDK gives it beside the ID Token.
    mutating func nativeCode(nonceClaim: String?, now: Int64) throws -> String {
        try grants.code(
            for: IssuedGrants.Authorization(
                clientID: audience, nonce: nonceClaim, expiresAt: now + IssuedGrants.codeLifetimeSeconds))
    }

    /// The answer of the token endpoint.
    ///
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func grant(_ form: FormParameters, authorization: String?, now: Int64) throws -> JSONTree {
        try authenticate(form, authorization, now: now)
        let tokens: IssuedGrants.Tokens
        var nonce: String?
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"] else { throw DevOAuthError.invalidRequest }
            tokens = try grants.exchange(
                code, clientID: audience, redirectURI: form["redirect_uri"], verifier: form["code_verifier"], now: now)
            nonce = tokens.authorization.nonce
        case "refresh_token":
            guard let token = form["refresh_token"] else { throw DevOAuthError.invalidRequest }
            // TN3107: Apple calls a refresh invalid_request once the user has revoked the app.
            tokens = try grants.refresh(
                token, clientID: audience, whenRevoked: kind == .apple ? .invalidRequest : .invalidGrant)
        default: throw DevOAuthError.unsupportedGrantType
        }
        var members: [String: JSONTree] = [
            "access_token": .string(tokens.accessToken), "token_type": .string("Bearer"), "expires_in": .integer(3600),
            "id_token": .string(try idToken(claiming: nonce, now: now)),
        ]
        if let refreshToken = tokens.refreshToken { members["refresh_token"] = .string(refreshToken) }
        return .object(members)
    }

    /// - Throws: ``DevOAuthError``.
    mutating func revoke(_ form: FormParameters, authorization: String?, now: Int64) throws {
        try authenticate(form, authorization, now: now)
        guard let token = form["token"] else { throw DevOAuthError.invalidRequest }
        grants.revoke(token)
    }

    /// The user's claims; `nil` if the access token is not valid.
    func userInfo(authorization: String?) -> JSONTree? {
        guard let token = authorization?.dropFirstWord("Bearer"), grants.isAccessToken(token) else { return nil }
        return .object(userClaims)
    }

    /// An ID Token whose `nonce` is what the authorization request had.
    private func idToken(claiming nonce: String?, now: Int64) throws -> String {
        try token(nonce: "", overriding: ["nonce": nonce.map(JSONTree.string) ?? .null], now: now)
    }

    /// Checks the client's ID and secret, in the body or by HTTP Basic. Apple's secret is a token, of which everything is
    /// checked but the signature: the provider does not know the app's key.
    private func authenticate(_ form: FormParameters, _ authorization: String?, now: Int64) throws {
        var (id, secret) = (form["client_id"], form["client_secret"])
        if let credentials = authorization?.dropFirstWord("Basic") {
            guard kind != .apple, secret == nil, let octets = Base64.decode(credentials) else {
                throw DevOAuthError.invalidRequest
            }
            let parts = String(decoding: octets, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw DevOAuthError.invalidClient }
            (id, secret) = (FormParameters.decode(parts[0]), FormParameters.decode(parts[1]))
        }
        let isGood =
            switch kind {
            case .google: secret == Self.clientSecret
            case .apple: secret.map { isAppleSecret($0, now: now) } ?? false
            }
        guard id == audience, isGood else { throw DevOAuthError.invalidClient }
    }

    /// - Source: developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret.
    private func isAppleSecret(_ secret: String, now: Int64) -> Bool {
        guard let jws = try? CompactJWS(secret), jws.header.algorithm == .es256, jws.header.keyID != nil,
            let claims = (try? JSONTree(readingObject: jws.payload))?.object,
            let issuedAt = claims["iat"]?.integer, let expiresAt = claims["exp"]?.integer
        else { return false }
        return claims["iss"]?.string != nil && claims["sub"] == .string(audience)
            && claims["aud"] == .string("https://appleid.apple.com") && issuedAt <= now && now < expiresAt
            && expiresAt <= now + 15_777_000
    }
}

extension String {
    /// What follows a word and a space; `nil` if the text begins with another word.
    fileprivate func dropFirstWord(_ word: String) -> String? {
        hasPrefix(word + " ") ? String(dropFirst(word.count + 1)) : nil
    }
}

/// Base64 as HTTP Basic has it (RFC 4648, section 4).
private enum Base64 {
    static func decode(_ text: String) -> [UInt8]? {
        let unpadded = text.utf8.prefix { $0 != UInt8(ascii: "=") }.map { octet in
            switch octet {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: octet
            }
        }
        return Base64URL.decode(unpadded.span)
    }
}
