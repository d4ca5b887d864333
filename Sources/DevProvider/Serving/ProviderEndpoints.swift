private import Bytes
internal import HTTP
internal import IDToken
internal import JOSE
internal import NIOCore
internal import NIOHTTP1

/// The endpoints of one provider.
extension DevResponder {
    /// - Parameter path: below the provider's URL.
    func reply(to request: HTTPRequest, _ path: String, _ id: String) -> HTTPReply {
        guard let faults = providers[id]?.faults, Self.isProtocol(path, request) else {
            return answer(request, path, id)
        }
        if faults.has(.down) { return .now(.error(.serviceUnavailable, "the fault 'down' is on")) }
        guard faults.delaySeconds > 0 else { return answer(request, path, id) }
        return .later { [self] in
            try await Task.sleep(for: .seconds(faults.delaySeconds))
            return switch answer(request, path, id) {
            case .now(let response): response
            case .later(_, let answer): try await answer()
            }
        }
    }

    /// Whether a real provider has this endpoint too, so that faults apply to it.
    private static func isProtocol(_ path: String, _ request: HTTPRequest) -> Bool {
        switch path {
        case "/keys", "/authorize", "/par", "/revoke", "/introspect", "/userinfo", "/register", "/logout": true
        case "/token": request.isForm
        default: path.hasSuffix("/.well-known/openid-configuration")
        }
    }

    private func answer(_ request: HTTPRequest, _ path: String, _ id: String) -> HTTPReply {
        do {
            if let reply = try later(request, path, id) { return reply }
            guard let response = try now(request, path, id) else {
                return .now(.error(.notFound, "there is no endpoint \(request.head.method.rawValue) \(path) here"))
            }
            return .now(response)
        } catch let error as DevOAuthError {
            return .now(refusal(error, path, id))
        } catch let error as DevRequestError {
            return .now(.error(.badRequest, error.text))
        } catch {
            return .now(.error(.internalServerError, "signing failed"))
        }
    }

    /// The response with an error of OAuth 2.0.
    private func refusal(_ error: DevOAuthError, _ path: String, _ id: String) -> HTTPResponse {
        let isOfResource = path == "/userinfo"
        var response = HTTPResponse.error(
            error == .invalidClient || isOfResource ? .unauthorized : .badRequest, error.rawValue)
        if isOfResource {
            response.headers.append(("WWW-Authenticate", "DPoP error=\"\(error.rawValue)\", algs=\"ES256\""))
        }
        if error == .proofNonceNeeded, let provider = providers[id] {
            let now = SystemClocks.unixSeconds() + provider.faults.clockOffset
            response.headers.append(("DPoP-Nonce", provider.proofNonce(at: now)))
        }
        return response
    }

    private func now(_ request: HTTPRequest, _ path: String, _ id: String) throws -> HTTPResponse? {
        guard var provider = providers[id] else { return nil }
        defer { providers[id] = provider }
        let now = SystemClocks.unixSeconds() + provider.faults.clockOffset
        let authorization = request.head.fields["Authorization"]?.string
        let proof = request.head.fields["DPoP"]?.string
        func form() throws -> FormParameters { try request.form(orThrow: DevOAuthError.invalidRequest) }
        switch (path, request.head.method) {
        case ("/keys", .get): return .json(provider.keySet)
        case ("/authorize", .get), ("/authorize", .post): return try authorize(request, &provider, now: now)
        case ("/token", .post) where request.isForm:
            return .json(try provider.grant(form(), authorization: authorization, proof: proof, now: now))
        case ("/par", .post):
            return .json(try provider.push(form(), authorization: authorization, now: now), .created)
        case ("/register", .post) where provider.settings.accessTokens != nil:
            return .json(try provider.register(request.members(), now: now), .created)
        case ("/token", .post): return try token(request, &provider, now: now)
        case ("/revoke", .post) where provider.dialect.hasRevocation:
            try provider.revoke(form(), authorization: authorization, now: now)
            return .json(.object([:]))
        case ("/logout", .get), ("/logout", .post):
            return provider.dialect.hasEndSession ? try endSession(request, provider, now: now) : nil
        case ("/introspect", .post) where provider.settings.hasOpaqueTokens:
            let introspection = try provider.introspect(form(), authorization: authorization, now: now)
            guard request.head.fields["Accept"]?.string == "application/token-introspection+jwt" else {
                return .json(.object(introspection.members))
            }
            return .file(
                "application/token-introspection+jwt", Array(try provider.sign(introspection, now: now).utf8))
        case ("/userinfo", .get), ("/userinfo", .post):
            guard provider.dialect.hasUserInfo else { return nil }
            let asked = EmulatedProvider.UserInfoRequest(
                method: request.head.method.rawValue, authorization: authorization, proof: proof)
            if provider.settings.signsUserInfo {
                return try provider.signedUserInfo(asked, now: now).map {
                    .file("application/jwt", Array($0.utf8))
                } ?? .error(.unauthorized, "invalid_token")
            }
            guard let claims = try provider.userInfo(asked, now: now) else {
                return .error(.unauthorized, "invalid_token")
            }
            return .json(claims)
        case ("/native", .get): return page(NativePage.form(provider, people))
        default:
            guard request.head.method == .get, let tenant = Self.tenant(ofDocument: path) else { return nil }
            return .json(provider.discoveryDocument(ofTenant: tenant.isEmpty ? nil : tenant))
        }
    }

    /// The tenant in the path of a discovery document; empty for the provider's own; `nil` for other paths.
    private static func tenant(ofDocument path: String) -> String? {
        let suffix = "/.well-known/openid-configuration"
        guard path.hasSuffix(suffix) else { return nil }
        let rest = path.dropLast(suffix.count)
        guard !rest.isEmpty else { return "" }
        guard rest.hasPrefix("/"), rest.hasSuffix("/v2.0") else { return nil }
        let tenant = rest.dropFirst().dropLast("/v2.0".count)
        return tenant.isEmpty || tenant.contains("/") ? nil : String(tenant)
    }

    // MARK: Authorization

    /// Shows the sign-in page, or responds to the form submitted from it.
    private func authorize(
        _ request: HTTPRequest, _ provider: inout EmulatedProvider, now: Int64
    ) throws -> HTTPResponse {
        let asked: AuthorizationRequest
        do {
            guard let query = FormParameters(request.head.query.bytes) else {
                throw DevRequestError("the query can't be read, or repeats a parameter")
            }
            // The page's own form comes later than the browser, when the reference may have ended.
            asked = try provider.request(query, now: request.head.method == .post ? nil : now)
        } catch let error as DevRequestError {
            return page(SignInPage.refusal(error.text, provider), .badRequest)
        }
        let decision: EmulatedProvider.Decision
        if request.head.method == .post {
            decision = try decide(request.form())
        } else if asked.isSilent {
            let person = asked.loginHint.map(people.named) ?? people.usual
            decision = person.map(EmulatedProvider.Decision.signIn) ?? .nobody
        } else {
            return page(SignInPage.page(asked, provider, people))
        }
        return send(try provider.respond(to: asked, decision, now: now))
    }

    private func decide(_ form: FormParameters) throws -> EmulatedProvider.Decision {
        guard form["action"] != "cancel" else { return .cancel }
        var person: Person
        switch form["person"] {
        case "+":
            person = Person(form)
            people.add(person)
        case let id?:
            guard let known = people.named(id) else { throw DevRequestError("there is no person \(id)") }
            person = known
        case nil: person = people.usual
        }
        if let address = form["address"] { person.hidesEmail = address == "hidden" }
        return .signIn(person)
    }

    // MARK: Signing out

    /// Shows the page on which the person confirms that they sign out, or responds to the form submitted from it.
    private func endSession(
        _ request: HTTPRequest, _ provider: EmulatedProvider, now: Int64
    ) throws -> HTTPResponse {
        let parameters: FormParameters
        let asked: EndSessionRequest
        do {
            let query = request.isForm ? FormParameters(request.body) : FormParameters(request.head.query.bytes)
            guard let query else { throw DevRequestError("the parameters can't be read, or one is repeated") }
            parameters = query
            asked = try EndSessionRequest(query, to: provider, now: now)
        } catch let error as DevRequestError {
            return page(SignInPage.refusal(error.text, provider), .badRequest)
        }
        guard request.head.method == .post, parameters["action"] == "sign-out" else {
            return page(SignOutPage.page(asked, provider))
        }
        return asked.destination.map { .redirect($0) } ?? page(SignOutPage.signedOut(provider))
    }

    /// Sends the browser back to the relying party.
    private func send(_ answer: EmulatedProvider.AuthorizationResponse) -> HTTPResponse {
        let text = answer.parameters.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
        switch answer.mode {
        case .form: return page(SignInPage.formPost(to: answer.redirectURI, answer.parameters))
        case .fragment: return .redirect(answer.redirectURI + "#" + text)
        case .query: return .redirect(answer.redirectURI + (answer.redirectURI.contains("?") ? "&" : "?") + text)
        }
    }
}

/// Issues tokens in one call, for scripts and native apps.
extension DevResponder {
    /// A script's request for a token: whose, for which client, and with which claims.
    struct Minting {
        let person: Person
        let clientID: String
        /// The raw nonce. The provider received this, or its hash, from the app.
        let nonce: String
        var claims: [String: JSONTree] = [:]
        var wantsCode = false
        /// The request that a DPoP proof is made for, to whose key the access token is bound; `nil`: to none.
        var proving: DevProofRequest?
        /// The certificate that the access token is bound to; `nil`: to none.
        var certificate: DevCertificate?
    }

    /// A token that was issued, and what proves its key.
    struct Minted {
        /// Those of a request to verify the token.
        var members: [String: JSONTree]
        /// The claim `cnf`; empty for a token that is not bound.
        var confirmation: [String: JSONTree] = [:]
    }

    func token(_ request: HTTPRequest, _ provider: inout EmulatedProvider, now: Int64) throws -> HTTPResponse {
        let members = try request.members()
        try members.checkNames(["nonce", "claims", "code", "person", "audience", "dpop", "certificate"])
        let proving = try members.object("dpop").map(DevProofRequest.init)
        let certificate = try members.text("certificate").map(DevCertificate.init)
        guard provider.settings.accessTokens != nil || proving == nil && certificate == nil else {
            throw DevRequestError(
                "\(proving == nil ? "certificate" : "dpop") is only for access tokens; this provider issues ID Tokens")
        }
        let minting = Minting(
            person: try person(members["person"]), clientID: try clientID(members.text("audience"), provider),
            nonce: try members.text("nonce") ?? randomName(), claims: try members.object("claims") ?? [:],
            wantsCode: try members.flag("code") ?? false, proving: proving, certificate: certificate)
        return .json(.object(try mint(minting, &provider, now: now).members))
    }

    /// Issues a token.
    ///
    /// - Throws: ``OpenSSLError``.
    func mint(_ minting: Minting, _ provider: inout EmulatedProvider, now: Int64) throws -> Minted {
        if let dialect = provider.settings.accessTokens { return try mint(minting, dialect, &provider, now: now) }
        let nonce = try Self.claim(for: minting.nonce, provider.policy.nonce)
        var request = EmulatedProvider.TokenRequest(
            person: minting.person, clientID: minting.clientID, nonce: nonce)
        if minting.wantsCode {
            let claimed = minting.claims["nonce"].map(\.string) ?? nonce
            request.code = try provider.nativeCode(
                minting.person, clientID: minting.clientID, nonce: claimed, now: now)
        }
        var claims = try provider.idTokenClaims(request, now: now)
        for (name, value) in minting.claims { claims[name] = value == .null ? nil : value }
        var answer: [String: JSONTree] = ["id_token": .string(try provider.idToken(claims))]
        // An encrypted token does not show its issuer.
        if provider.settings.issuers?.isOpen == true || provider.settings.encryption?.kinds.contains(.idToken) == true {
            answer.merge(provider.settings.requestMembers) { $1 }
        }
        if provider.policy.nonce.isChecked { answer["nonce"] = .string(minting.nonce) }
        if let code = request.code { answer["code"] = .string(code) }
        return Minted(members: answer)
    }

    private func mint(
        _ minting: Minting, _ dialect: AccessTokenDialect, _ provider: inout EmulatedProvider, now: Int64
    ) throws -> Minted {
        let granted = EmulatedProvider.GrantedAccess(
            person: minting.person, audience: minting.clientID, clientID: minting.clientID)
        let key = try minting.proving.map { _ in try DevProofKey() }
        var confirmation: [String: JSONTree] = [:]
        if let key { confirmation["jkt"] = .string(key.thumbprint) }
        if let certificate = minting.certificate { confirmation["x5t#S256"] = .string(certificate.thumbprint) }
        var claims = minting.claims
        if !confirmation.isEmpty, claims["cnf"] == nil { claims["cnf"] = .object(confirmation) }
        let token = try provider.accessToken(dialect, granted, overriding: claims, id: randomName(), now: now)
        var members: [String: JSONTree] = ["token": .string(token)]
        // An opaque token does not say whose it is.
        if provider.settings.hasOpaqueTokens { members.merge(provider.settings.requestMembers) { $1 } }
        if let certificate = minting.certificate { members["certificate"] = .string(certificate.text) }
        if let key, let request = minting.proving {
            members["dpop"] = request.evidence(try key.proof(for: request, token: token, now: now))
        }
        return Minted(members: members, confirmation: confirmation)
    }

    /// The `nonce` claim for a raw nonce: some providers receive its hash from the app.
    private static func claim(for nonce: String, _ rule: NonceRule) throws -> String {
        let hash = try sha256(nonce)
        return switch rule.accepted.first {
        case .sha256Hex: String(hexadecimal: hash.span)
        case .sha256Base64URL: String(base64URL: hash)
        case .plain, nil: nonce
        }
    }

    /// The person that a request names or describes; the default person if it does neither.
    ///
    /// - Throws: ``DevRequestError``.
    func person(_ value: JSONTree?) throws -> Person {
        switch value {
        case nil, .null: return people.usual
        case .string(let id):
            if let person = people.named(id) { return person }
            let known = people.all.map(\.id).joined(separator: ", ")
            throw DevRequestError("there is no person \(id); name one of \(known), or describe a person as an object")
        case .object(let members): return try Person(members)
        default: throw DevRequestError("person must be a name or an object")
        }
    }

    /// - Throws: ``DevRequestError``.
    func clientID(_ audience: String?, _ provider: EmulatedProvider) throws -> String {
        guard let audience else { return provider.audiences.first ?? "" }
        guard provider.audiences.contains(audience) else {
            throw DevRequestError(
                "audience must be one of \(provider.audiences.joined(separator: ", ")); to see a refusal, set claims.aud"
            )
        }
        return audience
    }
}
