private import Bytes
internal import IDToken
internal import JOSE

/// An authorization request, checked as the provider checks it before anyone signs in.
struct AuthorizationRequest {
    let client: DevClient
    let redirectURI: String
    let mode: ResponseMode
    /// Whether the response is signed (JARM).
    let isSigned: Bool
    /// Whether an ID Token is requested in addition to the code.
    let wantsIDToken: Bool
    let scopes: [String]
    let state: String?
    let nonce: String?
    /// PKCE's challenge; its method is S256.
    let challenge: String?
    /// The API that the access token is for (RFC 8707).
    let resource: String?
    /// `dpop_jkt`: the thumbprint of the key that the access token will be bound to (RFC 9449, section 10).
    let announcedKey: String?
    /// The authentication context class that is asked for first: the person signs in as asked.
    let acr: String?
    let loginHint: String?
    /// Whether no page may be shown to the person (`prompt=none`). Scripts sign in this way.
    let isSilent: Bool

    enum ResponseMode: String, Sendable, CaseIterable {
        case query, fragment
        /// OAuth 2.0 Form Post Response Mode.
        case form = "form_post"
    }

    /// - Throws: ``DevRequestError`` if a provider would show an error page instead of redirecting.
    init(_ query: FormParameters, to provider: EmulatedProvider) throws {
        guard let id = query["client_id"] else { throw DevRequestError("client_id is missing") }
        guard let client = provider.client(id) else {
            throw DevRequestError(
                "client_id is \(id), which is not registered; the settings list \(provider.audiences.joined(separator: ", "))"
            )
        }
        self.client = client
        guard let redirectURI = query["redirect_uri"] else { throw DevRequestError("redirect_uri is missing") }
        guard client.allows(redirectURI) else {
            throw DevRequestError(
                "redirect_uri is \(redirectURI), which is not registered for \(id); add it to redirect_uris, or use a loopback or .test host"
            )
        }
        self.redirectURI = redirectURI
        let types = (query["response_type"] ?? "").split(separator: " ")
        guard types.contains("code"), types.allSatisfy({ $0 == "code" || $0 == "id_token" }) else {
            throw DevRequestError("response_type must be code, or code id_token")
        }
        wantsIDToken = types.contains("id_token")
        let named = query["response_mode"]
        let isSigned = named == "jwt" || named?.hasSuffix(".jwt") == true
        let plain = named == "jwt" ? nil : named.map { isSigned ? String($0.dropLast(".jwt".count)) : $0 }
        let mode = plain.map(ResponseMode.init) ?? (wantsIDToken ? .fragment : .query)
        guard let mode else {
            throw DevRequestError(
                "response_mode must be query, fragment or form_post, or jwt, or one of them with .jwt")
        }
        guard mode != .query || !wantsIDToken else {
            throw DevRequestError("response_mode query can't carry an ID Token; use fragment or form_post")
        }
        scopes = (query["scope"] ?? "").split(separator: " ").map(String.init)
        if provider.settings.quirks.contains(.formPostForScopes), mode != .form, !scopes.isEmpty {
            throw DevRequestError("response_mode must be form_post, because scopes are requested")
        }
        self.mode = mode
        self.isSigned = isSigned
        challenge = query["code_challenge"]
        guard challenge == nil || query["code_challenge_method"] == "S256" else {
            throw DevRequestError("code_challenge_method must be S256")
        }
        if case .none = client.authentication, challenge == nil {
            throw DevRequestError("code_challenge is missing; a client without a secret needs it")
        }
        state = query["state"]
        nonce = query["nonce"]
        announcedKey = query["dpop_jkt"]
        acr = query["acr_values"]?.split(separator: " ").first.map(String.init) ?? query.essentialACR
        resource = query["resource"]
        guard resource.map({ $0.hasPrefix("https://") || $0.hasPrefix("http://") }) ?? true,
            resource?.contains("#") != true
        else { throw DevRequestError("resource must be the URL of an API, without a fragment") }
        loginHint = query["login_hint"]
        isSilent = query["prompt"] == "none"
    }
}

extension FormParameters {
    /// The first value of an essential `acr` in `claims` (OpenID Connect Core 1.0, section 5.5).
    fileprivate var essentialACR: String? {
        let claims = self["claims"].flatMap { try? JSONTree(readingObject: Array($0.utf8)) }
        let acr = claims?.object?["id_token"]?.object?["acr"]?.object
        return acr?["value"]?.string ?? acr?["values"]?.array?.first?.string
    }
}

extension DevClient {
    /// Whether this redirect URI is allowed: the settings list it, or its host is loopback or reserved for tests.
    fileprivate func allows(_ uri: String) -> Bool { Self.allows(uri, redirectURIs) }

    /// The same for the address after the person has signed out.
    func allowsAfterLogout(_ uri: String) -> Bool { Self.allows(uri, postLogoutRedirectURIs) }

    private static func allows(_ uri: String, _ registered: [String]) -> Bool {
        guard uri.utf8.count <= 2048, uri.utf8.allSatisfy(\.isVisibleASCII), !uri.contains("#") else {
            return false
        }
        return registered.contains { fits(uri, $0) } || HostName(ofURL: uri)?.isOfDevelopment == true
    }

    private static func fits(_ uri: String, _ registered: String) -> Bool {
        guard let place = registered.firstRange(of: "{connection}") else { return uri == registered }
        let (prefix, suffix) = (registered[..<place.lowerBound], registered[place.upperBound...])
        guard uri.hasPrefix(prefix), uri.hasSuffix(suffix), uri.count > prefix.count + suffix.count else {
            return false
        }
        return !uri.dropFirst(prefix.count).dropLast(suffix.count).contains { "/?&#".contains($0) }
    }
}

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
        if dialect.namesResponseIssuer || request.client.needsResponseIssuer {
            parameters.append(("iss", documentIssuer(ofTenant: nil)))
        }
        if request.isSigned {
            var claims = Dictionary(parameters.map { ($0.name, JSONTree.string($0.value)) }) { first, _ in first }
            claims["iss"] = .string(documentIssuer(ofTenant: nil))
            claims["aud"] = .string(request.client.id)
            claims["exp"] = .integer(now + IssuedGrants.codeLifetimeSeconds)
            parameters = [("response", try sealed(try keys.sign(claims, type: "JWT"), as: .response))]
        }
        return AuthorizationResponse(redirectURI: request.redirectURI, mode: request.mode, parameters: parameters)
    }

    private mutating func grant(
        _ request: AuthorizationRequest, to person: Person, now: Int64
    ) throws -> [(name: String, value: String)] {
        let isFirst = grants.isFirst(person, clientID: request.client.id)
        let code = try grants.code(
            for: IssuedGrants.Authorization(
                person: person, clientID: request.client.id, redirectURI: request.redirectURI, nonce: request.nonce,
                challenge: request.challenge, scopes: request.scopes, resource: request.resource,
                acr: request.acr, announcedKey: request.announcedKey, authenticatedAt: now,
                expiresAt: now + IssuedGrants.codeLifetimeSeconds))
        var parameters = [(name: "code", value: code)]
        if request.wantsIDToken {
            let token = TokenRequest(
                person: person, clientID: request.client.id, nonce: request.nonce, scopes: request.scopes, code: code,
                state: request.state, acr: request.acr)
            parameters.append(("id_token", try idToken(try idTokenClaims(token, now: now))))
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
    mutating func nativeCode(_ person: Person, clientID: String, nonce: String?, now: Int64) throws -> String {
        try grants.code(
            for: IssuedGrants.Authorization(
                person: person, clientID: clientID, nonce: nonce, scopes: ["openid", "email", "profile", "name"],
                authenticatedAt: now, expiresAt: now + IssuedGrants.codeLifetimeSeconds))
    }
}
