private import Bytes
package import HTTP
package import IDToken
package import JOSE
private import Keys
package import OAuth
package import OpenSSL
package import Verification

/// The body of `POST /v1/sign-ins`.
package struct BeginRequest {
    package let provider: String
    let audience: String?
    /// `nil`: a native sign-in.
    let browser: BrowserRequest?
    let maximumAuthenticationAgeSeconds: Int64?
    let expectedSubject: ExpectedSubject?
    /// For a provider with `issuers: any`; `nil` for all others.
    package let connection: Connection?
    let context: String?
    let lifetimeSeconds: Int64
    /// How the client of a connection authenticates, if its request is pushed.
    let client: RequestAuthentication?
    /// An ID Token of the user who must finish it. Not verified.
    let idTokenHint: ArraySlice<UInt8>?

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        connection = try Connection(of: object, beside: Names.all)
        guard let provider = try object.string(MemberNames.provider, characters: MemberBounds.provider) else {
            throw .requestInvalid("The request needs the member \"provider\": the id of a configured provider.")
        }
        self.provider = provider
        audience = try object.string(MemberNames.audience, characters: MemberBounds.audience)
        browser = try Self.browserRequest(object)
        maximumAuthenticationAgeSeconds = try object.seconds(MemberNames.maxAge)
        expectedSubject = try ExpectedSubject(of: object, connection)
        context = try Self.context(object)
        lifetimeSeconds = try Self.lifetime(object)
        client = try RequestAuthentication(of: object)
        idTokenHint = browser == nil ? nil : try object.token(Names.idTokenHint)
    }

    /// Reads the members for the authorization URL. A native sign-in, which has no such URL, must not have them.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func browserRequest(_ object: JSONObject) throws(Problem) -> BrowserRequest? {
        guard let redirectURI = try object.string(Names.redirectURI, characters: 1...2048) else {
            guard let name = Names.ofBrowsers.first(where: { object.kind(of: $0).map { $0 != .null } ?? false }) else {
                // `null` is an error here too.
                _ = try object.scopes(Names.scopes)
                return nil
            }
            throw .requestInvalid(
                "\(name.string) is only valid together with redirect_uri; omit it.")
        }
        func text(_ name: JSONName) throws(Problem) -> String? { try object.string(name, characters: 0...255) }
        let acrValues = try text(Names.acrValues)
        return BrowserRequest(
            redirectURI: redirectURI, scopes: try object.scopes(Names.scopes), responseMode: try responseMode(object),
            prompt: try text(Names.prompt), loginHint: try text(Names.loginHint),
            uiLocales: try text(Names.uiLocales), acrValues: acrValues,
            requested: try RequestedClaims.Names.all.contains { object.kind(of: $0) != nil }
                ? RequestedClaims(object, acrValues: acrValues) : nil)
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func responseMode(_ object: JSONObject) throws(Problem) -> ResponseMode? {
        guard let text = try object.string(Names.responseMode, characters: 0...255) else { return nil }
        guard let mode = ResponseMode(rawValue: text) else {
            throw .requestInvalid("response_mode must be query, form_post, jwt, query.jwt or form_post.jwt.")
        }
        return mode
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func context(_ object: JSONObject) throws(Problem) -> String? {
        guard let context = try object.string(Names.context, characters: 0...longestContext) else { return nil }
        guard context.utf8.count <= longestContext else {
            throw .requestInvalid("context must be at most \(longestContext) bytes of UTF-8.")
        }
        return context
    }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    private static func lifetime(_ object: JSONObject) throws(Problem) -> Int64 {
        guard let seconds = try object.seconds(Names.expiresIn) else { return 600 }
        guard lifetimes.contains(seconds) else {
            throw .requestInvalid(
                "expires_in must be \(lifetimes.lowerBound) to \(lifetimes.upperBound) seconds; found \(seconds).")
        }
        return seconds
    }

    private static let longestContext = 512
    private static let lifetimes: ClosedRange<Int64> = 60...3600

    private enum Names {
        static let redirectURI: JSONName = "redirect_uri"
        static let context: JSONName = "context"
        static let expiresIn: JSONName = "expires_in"
        static let scopes: JSONName = "scopes"
        static let responseMode: JSONName = "response_mode"
        static let prompt: JSONName = "prompt"
        static let loginHint: JSONName = "login_hint"
        static let uiLocales: JSONName = "ui_locales"
        static let acrValues: JSONName = "acr_values"
        static let idTokenHint: JSONName = "id_token_hint"
        /// Members that only a sign-in in a browser has.
        static let ofBrowsers =
            [
                scopes, responseMode, prompt, loginHint, uiLocales, acrValues, idTokenHint, RequestAuthentication.name,
            ] + RequestedClaims.Names.all
        static let all =
            [
                MemberNames.provider, MemberNames.audience, redirectURI, MemberNames.maxAge, MemberNames.subject,
                MemberNames.issuer, context, expiresIn,
            ] + ofBrowsers
    }
}

/// A sign-in that has begun: its handle, and what the app or browser has to pass to the provider.
package struct BegunSignIn {
    let handle: SealedSignIn
    /// `nil` if the provider's nonces are not checked.
    let nonce: (text: String, digest: String)?
    /// `nil` for a native sign-in.
    let state: String?
    /// `nil` for a native sign-in, and as long as the request is ``unsent``.
    private(set) var authorizationURL: String?
    /// Until when ``authorizationURL`` can be used; `nil` if that does not end.
    private(set) var requestExpiresAt: UnixTime?
    /// The authorization request that must be signed or pushed.
    private(set) var unsent: PreparedRequest?
    let expiresAt: UnixTime

    /// - Parameters:
    ///   - rules: `nil` if the provider has no clients.
    ///   - endpoint: `nil` if it is not known, because the provider's discovery document has not been read.
    ///   - hint: the verified ID Token of the user who must finish it.
    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``,
    ///   ``Problem/redirectURINotConfigured``, ``Problem/signInNotSupported``, ``Problem/requestInvalid(_:)``,
    ///   ``Problem/providerUnavailable(retryAfterSeconds:limit:)``, and ``Problem/rejected(_:)`` if OpenSSL fails.
    package init(
        _ request: BeginRequest, under policy: ProviderPolicy, _ rules: GrantRules?, _ endpoint: AuthorizationEndpoint?,
        _ hint: HintAnswer? = nil, now: UnixTime, sealedBy sealer: SignInSealer, _ digests: borrowing DigestContext
    ) throws(Problem) {
        if let audience = request.audience, !policy.audiences.containsExactly(audience) { throw .audienceNotConfigured }
        guard policy.issuesTokensOfSignIns else { throw .signInNotSupported }
        var authorization: AuthorizationRequest?
        if let browser = request.browser {
            authorization = try AuthorizationRequest(browser, audience: request.audience, under: policy, rules)
        } else if !policy.nonce.isChecked {
            throw .signInNotSupported
        }
        guard let audience = authorization?.client.id ?? request.audience ?? policy.audiences.first else {
            throw .signInNotSupported
        }
        // The request of a native sign-in is not Assay's, so it can't be held to the profile.
        if authorization == nil, rules?.client(audience)?.profile != nil {
            throw .requestInvalid(
                "The provider's client has a profile, whose sign-ins are in a browser; send redirect_uri.")
        }
        try request.expectedSubject?.check(against: policy)
        let subject = try request.expectedSubject.hinted(by: hint, policy)
        var form = AuthorizationRequestForm.plain
        if let authorization {
            // Settings may name the endpoint, but what the provider demands is in its document alone.
            guard let known = endpoint.flatMap(authorization.form(at:)) else { throw .endpointUnknown }
            form = known
            if hint?.wasEncrypted == true, !form.isPushed { throw Self.hintWouldBeShown }
            if form.isSigned, policy.hasTemplateIssuer { throw .requestAudienceUnknown }
        }

        let sealed: SealedSignIn?
        do throws(OpenSSLError) {
            let kind: SignIn.Kind
            let proofKey = rules?.client(audience)?.senderConstraint == .dpop ? try ProofKey.made() : nil
            if let authorization, let endpoint {
                let begun = try authorization.begun(at: endpoint)
                kind = .browser(begun)
                state = begun.state.text
                let prepared = try authorization.prepared(
                    at: endpoint, as: form, for: begun, maximumAge: request.maximumAuthenticationAgeSeconds,
                    keyThumbprint: try proofKey?.signer().thumbprint, hint: hint, now: now, digests)
                if form == .plain { authorizationURL = prepared.url } else { unsent = prepared }
            } else {
                kind = .native(try .random())
                state = nil
            }
            let signIn = SignIn(
                provider: policy.id, audience: audience, begunAt: now,
                expiresAt: now.advanced(bySeconds: request.lifetimeSeconds),
                maximumAuthenticationAgeSeconds: request.maximumAuthenticationAgeSeconds,
                subject: subject?.subject,
                // A connection has one issuer, which is sealed with it.
                issuer: request.connection == nil ? subject?.issuer : nil,
                connection: request.connection, context: request.context, proofKey: proofKey, kind: kind)
            sealed = try sealer.seal(signIn, salt: try randomBytes(SignInSealer.saltLength))
            nonce = try signIn.nonce.map { nonce throws(OpenSSLError) in
                (nonce.text, try nonce.text(as: .sha256Hex, digests))
            }
            expiresAt = signIn.expiresAt
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
        guard let sealed else {
            throw .requestInvalid(
                "sign_in would exceed \(SealedSignIn.maximumLength) bytes; send a shorter context, subject, resource, redirect_uri or list of acr."
            )
        }
        handle = sealed
    }

    /// A URL is seen by more than the provider.
    private static let hintWouldBeShown = Problem.requestInvalid(
        "id_token_hint is an encrypted ID Token, and what is inside must not be in a URL; omit it, or push the client's requests (request: pushed)."
    )

    /// The same sign-in, once its authorization request was signed or pushed.
    func sent(_ sent: (url: String, expiresAt: UnixTime)) -> BegunSignIn {
        var begun = self
        (begun.authorizationURL, begun.requestExpiresAt, begun.unsent) = (sent.url, sent.expiresAt, nil)
        return begun
    }

    /// Writes the response as a JSON object with every member; `request_expires_at` only if the request ends.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("sign_in", String(decoding: handle.text, as: UTF8.self))
        json.member("nonce", nonce?.text)
        json.member("nonce_sha256", nonce?.digest)
        json.member("state", state)
        json.member("authorization_url", authorizationURL)
        if let requestExpiresAt { json.member("request_expires_at", requestExpiresAt.seconds) }
        json.member("expires_at", expiresAt.seconds)
        json.endObject()
    }
}

extension Operation {
    /// Begins a sign-in: at once, unless its provider's discovery document must be read first, or its request signed or
    /// pushed.
    ///
    /// - Throws: the problems of ``BegunSignIn/init(_:under:_:_:now:sealedBy:_:)``, ``Problem/providerUnknown(nearest:)``.
    package func begin(
        _ request: BeginRequest, by signIns: LoopSignIns, at now: UnixTime
    ) throws(Problem) -> Reply<BegunSignIn, Problem> {
        let provider = try provider(named: request.provider)
        if provider.issuers?.list != nil { throw .signInNotSupported }
        try choose(request.connection, of: provider)
        if connection == nil, request.client != nil { throw .clientNotNamed }
        guard request.idTokenHint != nil || connection != nil && discovered == nil else {
            let begun = try begun(request, nil, provider, signIns, now)
            guard let unsent = begun.unsent else { return .now(begun) }
            return .later { () async throws(Problem) in
                begun.sent(try await self.send(unsent, authenticatedBy: request.client, to: provider))
            }
        }
        do throws(Problem) {
            // What no document would change is refused at once.
            _ = try begun(request, nil, provider, signIns, now)
        } catch {
            if error != .endpointUnknown { throw error }
        }
        return .later { () async throws(Problem) in
            try await self.requireDocument()
            let hint = try await self.hint(of: request, at: provider)
            let begun = try self.begun(request, hint, provider, signIns, now)
            guard let unsent = begun.unsent else { return begun }
            return begun.sent(try await self.send(unsent, authenticatedBy: request.client, to: provider))
        }
    }

    /// Verifies the request's `id_token_hint`.
    ///
    /// - Returns: `nil` if it has none.
    private func hint(of request: BeginRequest, at provider: Provider) async throws(Problem) -> HintAnswer? {
        guard let text = request.idTokenHint, let browser = request.browser else { return nil }
        let client = try AuthorizationRequest(
            browser, audience: request.audience, under: policy(of: provider), grantRules(of: provider)
        ).client
        return try await verify(hint: text, clientID: client.id)
    }

    private func begun(
        _ request: BeginRequest, _ hint: HintAnswer?, _ provider: Provider, _ signIns: LoopSignIns, _ now: UnixTime
    ) throws(Problem) -> BegunSignIn {
        try BegunSignIn(
            request, under: policy(of: provider), grantRules(of: provider), authorizationEndpoint(of: provider), hint,
            now: now,
            sealedBy: signIns.sealer, signIns.claims.digests)
    }

    private func authorizationEndpoint(of provider: Provider) -> AuthorizationEndpoint? {
        guard let grants = provider.grants, case .known(let url) = grants.endpoint(.authorization, discovered) else {
            return nil
        }
        return AuthorizationEndpoint(
            url: url.text, sendsResponseIssuer: grants.sendsResponseIssuer(discovered) ?? false,
            requiredForm: grants.requiredForm(discovered))
    }
}

extension ExpectedSubject? {
    /// The user who must finish a sign-in: the one that the request names, or else the one of its `id_token_hint`.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)`` if they are not the same.
    fileprivate func hinted(by hint: HintAnswer?, _ policy: ProviderPolicy) throws(Problem) -> ExpectedSubject? {
        guard let hint = hint?.hint else { return self }
        guard let named = self else {
            return ExpectedSubject(subject: hint.subject, issuer: policy.hasTemplateIssuer ? hint.issuer : nil)
        }
        guard named.subject.isExactly(hint.subject), named.issuer.map(hint.issuer.isExactly) ?? true else {
            throw .requestInvalid("subject and issuer name another user than id_token_hint; send one of them.")
        }
        return named
    }
}
