internal import IDToken
internal import JOSE

/// The token, revocation and UserInfo endpoints.
extension EmulatedProvider {
    /// The token endpoint's response.
    ///
    /// - Parameter proof: the header `DPoP`. It binds the tokens to its key.
    /// - Throws: ``DevOAuthError``, or ``OpenSSLError``.
    mutating func grant(
        _ form: FormParameters, authorization: String?, proof: String? = nil, now: Int64
    ) throws -> JSONTree {
        let boundKey = try proof.map { try key(provenBy: $0, "POST", "/token", now: now) }
        let client = try authenticate(form, authorization, now: now)
        guard boundKey != nil || !client.mustProve else { throw DevOAuthError.invalidProof }
        let tokens: IssuedGrants.Tokens
        var nonce: String?
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"] else { throw DevOAuthError.invalidRequest }
            guard !faults.has(.spentCodes) else { throw DevOAuthError.invalidGrant }
            tokens = try grants.exchange(
                code, clientID: client.id, redirectURI: form["redirect_uri"], verifier: form["code_verifier"],
                boundKey: boundKey, now: now)
            nonce = tokens.authorization.nonce
        case "refresh_token":
            guard let token = form["refresh_token"] else { throw DevOAuthError.invalidRequest }
            // TN3107: Apple answers a refresh with invalid_request once the user has revoked access.
            let isRequest = settings.quirks.contains(.revokedIsInvalidRequest)
            tokens = try grants.refresh(
                token, clientID: client.id, rotates: !settings.quirks.contains(.refreshTokensStay), boundKey: boundKey,
                whenRevoked: isRequest ? .invalidRequest : .invalidGrant)
        default: throw DevOAuthError.unsupportedGrantType
        }
        if let resource = form["resource"], resource != tokens.authorization.resource {
            throw DevOAuthError.invalidTarget
        }
        return .object(try members(of: tokens, nonce: nonce, now: now))
    }

    private mutating func members(
        of tokens: IssuedGrants.Tokens, nonce: String?, now: Int64
    ) throws -> [String: JSONTree] {
        let authorization = tokens.authorization
        let boundKey = authorization.boundKey
        let request = TokenRequest(
            person: authorization.person, clientID: authorization.clientID, nonce: nonce, scopes: authorization.scopes,
            authenticatedAt: authorization.authenticatedAt, accessToken: tokens.accessToken, acr: authorization.acr)
        var members: [String: JSONTree] = [
            "access_token": .string(tokens.accessToken), "expires_in": .integer(3600),
        ]
        if let accessTokens = settings.accessTokens {
            let audience = authorization.resource ?? audiences.first ?? ""
            let granted = GrantedAccess(
                person: authorization.person, audience: audience, clientID: authorization.clientID,
                scopes: authorization.scopes)
            let binding = boundKey.map { ["cnf": JSONTree.object(["jkt": .string($0)])] } ?? [:]
            members["access_token"] = .string(
                try accessToken(accessTokens, granted, overriding: binding, id: tokens.accessToken, now: now))
        } else {
            members["id_token"] = .string(try idToken(try idTokenClaims(request, now: now)))
        }
        if !settings.quirks.contains(.noTokenType) {
            members["token_type"] = .string(boundKey == nil ? "Bearer" : "DPoP")
        }
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

    /// A request to the UserInfo endpoint.
    struct UserInfoRequest {
        var method = "GET"
        /// The headers `Authorization` and `DPoP`.
        let authorization: String?
        var proof: String?
    }

    /// The person's claims; `nil` if the access token is not valid.
    ///
    /// - Throws: ``DevOAuthError`` about the proof that a bound token needs, or ``OpenSSLError``.
    func userInfo(_ request: UserInfoRequest, now: Int64) throws -> JSONTree? {
        guard let granted = try granted(request, now: now) else { return nil }
        return .object(try userClaims(of: granted.person, scopes: granted.scopes))
    }

    /// The same as a JWT (OpenID Connect Core 1.0, section 5.3.2), encrypted if the settings say so.
    ///
    /// - Throws: ``DevOAuthError`` about the proof that a bound token needs, or ``OpenSSLError``.
    func signedUserInfo(_ request: UserInfoRequest, now: Int64) throws -> String? {
        guard let granted = try granted(request, now: now) else { return nil }
        var claims = try userClaims(of: granted.person, scopes: granted.scopes)
        claims["iss"] = .string(issuer(of: granted.person))
        claims["aud"] = .string(granted.clientID)
        return try sealed(try keys.sign(claims, type: nil), as: .userInfo)
    }

    /// - Throws: ``DevOAuthError`` for a proof that does not hold; ``OpenSSLError``.
    private func granted(_ request: UserInfoRequest, now: Int64) throws -> IssuedGrants.Authorization? {
        let bound = request.authorization?.dropFirstWord("DPoP")
        guard let token = bound ?? request.authorization?.dropFirstWord("Bearer"),
            let granted = grants.authorization(ofAccessToken: token)
        else { return nil }
        if let boundKey = granted.boundKey {
            // RFC 9449, section 7.2.
            guard bound != nil, let proof = request.proof,
                try key(provenBy: proof, request.method, "/userinfo", with: token, now: now) == boundKey
            else { throw DevOAuthError.invalidProof }
        }
        return granted
    }

    /// - Throws: ``DevOAuthError``.
    func authenticate(_ form: FormParameters, _ authorization: String?, now: Int64) throws -> DevClient {
        let proof = try ClientAuthentication(form, authorization: authorization)
        let audiences = [policy.issuer, documentIssuer(ofTenant: nil), base + "/token"]
        guard !faults.has(.refusedClients), let client = client(proof.clientID),
            proof.isAccepted(for: client, audiences: audiences, now: now)
        else { throw DevOAuthError.invalidClient }
        return client
    }
}

/// Access tokens, for providers whose access tokens the settings verify: JWTs, unless they are opaque.
extension EmulatedProvider {
    /// What an access token is for.
    struct GrantedAccess {
        let person: Person
        /// The API; empty for a provider whose tokens have no audience.
        let audience: String
        let clientID: String
        /// Empty: the usual ones.
        var scopes: [String] = []
    }

    /// - Parameters:
    ///   - overriding: claims that replace the usual ones; `null` removes one.
    ///   - id: `jti`. An opaque token is nothing else.
    mutating func accessToken(
        _ dialect: AccessTokenDialect, _ granted: GrantedAccess, overriding: [String: JSONTree] = [:], id: String,
        now: Int64
    ) throws -> String {
        let person = granted.person
        let scopes = granted.scopes.isEmpty ? ["openid", "read"] : granted.scopes
        var claims: [String: JSONTree] = [
            "iss": .string(issuer(of: person)), "sub": .string(try subject(of: person)),
            "iat": .integer(now), "exp": .integer(now + self.dialect.tokenLifetimeSeconds), "jti": .string(id),
        ]
        if let template = policy.issuerTemplates?.first {
            claims[template.claim.string] = .string(tenant(of: person))
        }
        if !granted.audience.isEmpty { claims["aud"] = .string(granted.audience) }
        if let name = dialect.clientClaims.first { claims[name.string] = .string(granted.clientID) }
        if dialect.requiredClaims.contains(.shortScope) {
            claims["scp"] = .string(scopes.filter { $0 != "openid" }.joined(separator: " "))
        } else if !dialect.isAlsoIDToken {
            claims["scope"] = .string(scopes.joined(separator: " "))
        }
        if !person.groups.isEmpty {
            claims.set(.array(person.groups.map(JSONTree.string)), at: dialect.authorization.groups)
        }
        fulfil(dialect.claimRules + policy.claimRules, dialect.requiredClaims + policy.requiredClaims, in: &claims)
        for (name, value) in overriding { claims[name] = value == .null ? nil : value }
        guard !settings.hasOpaqueTokens else {
            grants.keep(IssuedGrants.OpaqueToken(claims: claims, person: person, clientID: granted.clientID), as: id)
            return id
        }
        return try keys.sign(claims, type: dialect.types == [.accessToken] ? "at+jwt" : "JWT")
    }
}

/// The documents that relying parties read.
extension EmulatedProvider {
    /// - Parameter tenant: the tenant whose document is requested; `nil` for the tenant-independent document.
    func discoveryDocument(ofTenant tenant: String?) -> JSONTree {
        let isApple = settings.quirks.contains(.formPostForScopes)
        var members: [String: JSONTree] = [
            "issuer": .string(documentIssuer(ofTenant: tenant) + (faults.has(.wrongIssuer) ? "/another" : "")),
            "jwks_uri": .string(base + "/keys"),
            "token_endpoint": .string(base + "/token"), "authorization_endpoint": .string(base + "/authorize"),
            "pushed_authorization_request_endpoint": .string(base + "/par"),
            "request_parameter_supported": .bool(true),
            "response_types_supported": list("code", "code id_token"),
            "response_modes_supported": list(
                "query", "fragment", "form_post", "jwt", "query.jwt", "fragment.jwt", "form_post.jwt"),
            "authorization_signing_alg_values_supported": .array([.string(keys.algorithm)]),
            "grant_types_supported": list("authorization_code", "refresh_token"),
            "subject_types_supported": list("pairwise"),
            "scopes_supported": isApple ? list("name", "email") : list("openid", "email", "profile"),
            "id_token_signing_alg_values_supported": .array([.string(keys.algorithm)]),
            "code_challenge_methods_supported": list("S256"),
            "prompt_values_supported": list("none"),
            "token_endpoint_auth_methods_supported": isApple
                ? list("client_secret_post")
                : list("client_secret_basic", "client_secret_post", "private_key_jwt", "none"),
        ]
        if !isApple {
            members["token_endpoint_auth_signing_alg_values_supported"] = list("RS256", "PS256", "ES256", "EdDSA")
        }
        members["dpop_signing_alg_values_supported"] = list("ES256")
        if let encryption = settings.encryption {
            for name in encryption.kinds.compactMap(\.metadataPrefix) {
                members[name + "_encryption_alg_values_supported"] = list(encryption.encrypter.algorithm.rawValue)
                members[name + "_encryption_enc_values_supported"] = list(encryption.encrypter.content.rawValue)
            }
        }
        if dialect.hasRevocation { members["revocation_endpoint"] = .string(base + "/revoke") }
        if dialect.hasUserInfo { members["userinfo_endpoint"] = .string(base + "/userinfo") }
        if dialect.hasEndSession { members["end_session_endpoint"] = .string(base + "/logout") }
        if dialect.namesResponseIssuer || settings.clients.contains(where: \.needsResponseIssuer) {
            members["authorization_response_iss_parameter_supported"] = .bool(true)
        }
        if dialect.events != .apple { members["backchannel_logout_supported"] = .bool(true) }
        if settings.accessTokens != nil { members["registration_endpoint"] = .string(base + "/register") }
        if settings.hasOpaqueTokens { members["introspection_endpoint"] = .string(base + "/introspect") }
        return .object(members)
    }

    /// The issuer in the discovery document. The tenant-independent document has the issuer template.
    func documentIssuer(ofTenant tenant: String?) -> String {
        guard let template = policy.issuerTemplates?.first, let tenant else { return policy.issuer }
        return template.issuer(ofTenant: tenant)
    }

    var keySet: JSONTree {
        let contents: EmulatedKeys.SetContents =
            faults.has(.noKeys) ? .none : faults.has(.thinKeys) ? .withoutCurrent : .all
        return keys.set(issuer: policy.keyIssuers.first?.text, contents)
    }

    private func list(_ texts: String...) -> JSONTree { .array(texts.map(JSONTree.string)) }
}

extension DevEncryption.Kind {
    /// Of the members of a discovery document that say how it is encrypted (OpenID Connect Discovery 1.0, section 3; JARM,
    /// section 4); `nil` if there are none.
    fileprivate var metadataPrefix: String? {
        switch self {
        case .idToken: "id_token"
        case .userInfo: "userinfo"
        case .response: "authorization"
        case .notification: nil
        }
    }
}
