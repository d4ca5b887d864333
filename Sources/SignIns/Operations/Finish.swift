private import Bytes
package import HTTP
package import IDToken
package import JOSE
internal import OAuth
private import OpenSSL
package import Verification

/// The body of `POST /v1/sign-ins/finish`.
package struct FinishRequest {
    let handle: SealedSignIn
    let idToken: ArraySlice<UInt8>?
    let code: String?
    let accessToken: String?
    /// `nil` for a native sign-in.
    private(set) var response: BrowserResponse?
    let redirectURI: String?
    let clientName: ClientName?
    let includesClaims: Bool
    /// The ID of the connection that the backend's session says.
    let connection: String?
    let client: RequestAuthentication?

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        guard let handle = try? object.utf8(Names.signIn) else {
            throw .requestInvalid("The request needs a member sign_in, the string returned by POST /v1/sign-ins.")
        }
        self.handle = SealedSignIn(text: Array(handle))
        idToken = try object.token(MemberNames.idToken)
        code = try object.string(MemberNames.code, characters: MemberBounds.code)
        accessToken = try object.string(MemberNames.accessToken, characters: MemberBounds.accessToken)
        response =
            if let response = object[Names.response], response.kind != .null { try BrowserResponse(response) } else {
                nil
            }
        redirectURI = try object.string(Names.redirectURI, characters: 1...2048)
        clientName = if let user = object[MemberNames.user], user.kind != .null { try ClientName(user) } else { nil }
        includesClaims = try object.boolean(MemberNames.includeClaims) ?? false
        connection = try object.checkedString(MemberNames.connection, characters: MemberBounds.connection)
        client = try RequestAuthentication(of: object)
    }

    /// The same request, with the parameters in its signed response.
    ///
    /// - Throws: ``Problem``. Nothing is used up then.
    fileprivate func with(_ response: Verdict<VerifiedResponse>) throws(Problem) -> FinishRequest {
        let verified: VerifiedResponse
        do throws(Problem) { verified = try response.get() } catch { throw error.ofResponse }
        var request = self
        request.response = try BrowserResponse(verified)
        return request
    }

    /// Opens the handle.
    ///
    /// - Throws: ``Problem/signInInvalid``, ``Problem/signInExpired``, and ``Problem/rejected(_:)`` if OpenSSL fails.
    package func open(by sealer: SignInSealer, now: UnixTime) throws(Problem) -> OpenedSignIn {
        let opened = try openSSL(sealer.open(handle))
        // A handle from a clock that was far ahead would outlive its claim, so it could be used twice.
        guard let opened, opened.content.begunAt <= now.advanced(bySeconds: ClaimEnd.clockTolerance) else {
            throw .signInInvalid
        }
        guard now < opened.content.expiresAt else { throw .signInExpired }
        return opened
    }

    private enum Names {
        static let signIn: JSONName = "sign_in"
        static let response: JSONName = "response"
        static let redirectURI: JSONName = "redirect_uri"
        static let all = [
            signIn, MemberNames.idToken, MemberNames.code, MemberNames.accessToken, response, redirectURI,
            MemberNames.user, MemberNames.includeClaims, MemberNames.connection, RequestAuthentication.name,
        ]
    }
}

extension Operation {
    /// Finishes a sign-in: at once, unless that needs newer keys, a store elsewhere, or a call to the provider.
    ///
    /// - Parameter now: when the operation began.
    package func finish(
        _ body: JSONObject, by signIns: LoopSignIns, at now: VerificationTime
    ) throws(Problem) -> Reply<FinishedSignIn, Problem> {
        let request = try FinishRequest(body)
        let signIn = try request.open(by: signIns.sealer, now: now.wall)
        guard let provider = find(signIn.content.provider) else { throw .signInInvalid }
        // Before anything is sent: the handle is in the browser's hands, and a swapped one must not carry one customer's
        // secret to another's token endpoint.
        try request.check(signIn.content.connection)
        guard provider.issuers?.list == nil, (try? choose(signIn.content.connection, of: provider)) != nil else {
            throw .signInInvalid
        }
        guard connection != nil, discovered == nil, request.needsDocument else {
            return try proceed(request, signIn, at: provider, by: signIns, now)
        }
        return .later { () async throws(Problem) in
            try await self.requireDocument()
            return try await self.proceed(request, signIn, at: provider, by: signIns, .now()).value()
        }
    }

    /// Finishes a sign-in whose connection is the session's: first verifies its response, if it must be signed.
    private func proceed(
        _ request: FinishRequest, _ signIn: OpenedSignIn, at provider: Provider, by signIns: LoopSignIns,
        _ now: VerificationTime
    ) throws(Problem) -> Reply<FinishedSignIn, Problem> {
        guard let response = try signIn.content.signedResponse(request, policy(of: provider)) else {
            return try proceed(withPlain: request, signIn, at: provider, by: signIns, now)
        }
        let signed = try token(response, clientID: signIn.content.audience)
        let outcome = verifier.verify(response: signed, at: now)
        if case .decided(let verdict) = outcome {
            return try proceed(withPlain: try request.with(verdict), signIn, at: provider, by: signIns, now)
        }
        return .later { () async throws(Problem) in
            let plain = try request.with(
                await self.verdict(after: outcome) { self.verifier.verify(response: signed, at: $0) })
            return try await self.proceed(withPlain: plain, signIn, at: provider, by: signIns, .now()).value()
        }
    }

    private func proceed(
        withPlain request: FinishRequest, _ signIn: OpenedSignIn, at provider: Provider, by signIns: LoopSignIns,
        _ now: VerificationTime
    ) throws(Problem) -> Reply<FinishedSignIn, Problem> {
        let rules = FinishRules(
            policy: policy(of: provider), grants: grantRules(of: provider),
            sendsResponseIssuer: provider.grants?.sendsResponseIssuer(discovered))
        switch try FinishPlan(signIn, request, under: rules) {
        case .token(let token):
            let outcome = verifier.verify(token, at: now)
            if case .decided(let verdict) = outcome {
                return try claim(signIn, try accept(verdict), signIns.claims)
            }
            return .later { () async throws(Problem) in
                let answer = try await self.verify(token, after: outcome)
                return try await self.claim(signIn, answer, signIns.claims).value()
            }
        case .code(let code):
            let calls = try GrantCalls(of: self, to: provider, by: signIn.content.audience, request.client)
            return .later { () async throws(Problem) in
                try await self.exchange(code, of: signIn, nil, calls, signIns)
            }
        case .tokenThenCode(let token, let code):
            let calls = try GrantCalls(of: self, to: provider, by: signIn.content.audience, request.client)
            let outcome = verifier.verify(token, at: now)
            let decided: VerifyAnswer? =
                if case .decided(let verdict) = outcome {
                    try accept(try accept(verdict), before: code, signIn.content)
                } else {
                    nil
                }
            return .later { () async throws(Problem) in
                let first =
                    if let decided { decided } else {
                        try self.accept(try await self.verify(token, after: outcome), before: code, signIn.content)
                    }
                return try await self.exchange(code, of: signIn, first, calls, signIns)
            }
        }
    }

    /// Checks what only the ID Token of a browser's response must satisfy.
    ///
    /// - Parameter first: verified, and came with the code.
    /// - Throws: ``Problem/responseIssuerMismatch(_:)``, ``Problem/acrMismatch``, ``Problem/rejected(_:of:)``.
    private func accept(
        _ first: VerifyAnswer, before code: PendingExchange, _ signIn: SignIn
    ) throws(Problem) -> VerifyAnswer {
        if let state = code.responseState { try verifier.checkStateHash(of: first, state) }
        if let named = code.responseIssuer, !named.isExactly(first.identity.issuer) {
            throw .responseIssuerMismatch(.notTheTokens)
        }
        try signIn.check(first)
        return first
    }

    /// Claims a sign-in whose ID Token has been verified, which finishes it.
    private func claim(
        _ signIn: OpenedSignIn, _ answer: VerifyAnswer, _ claims: ClaimStore
    ) throws(Problem) -> Reply<FinishedSignIn, Problem> {
        let claim = try signIn.claim(claims.digests)
        func finished(_ made: ClaimStore.Made) throws(Problem) -> FinishedSignIn {
            FinishedSignIn(
                signIn: try claimed(signIn, by: claim, made), answer: answer, identity: answer.identity, grant: nil)
        }
        let attempt = claims.attempt(claim)
        if case .now(let made) = attempt { return .now(try finished(made)) }
        return .later { () async throws(Problem) in try finished(await attempt.made()) }
    }
}

/// How an opened sign-in is finished, depending on its kind and on the request.
enum FinishPlan {
    /// By an ID Token alone, or with a code that is only compared with the token's `c_hash`.
    case token(VerifyRequest)
    /// By a code alone, which is exchanged.
    case code(PendingExchange)
    /// By an ID Token, after which the code that came with it is exchanged.
    case tokenThenCode(VerifyRequest, PendingExchange)
}

/// The settings of a sign-in's provider at its finish. They may have changed since the sign-in began.
struct FinishRules {
    let policy: ProviderPolicy
    /// `nil` if the provider has no clients.
    let grants: GrantRules?
    /// Whether the provider says that its responses name the issuer (RFC 9207, section 3); `nil` if its discovery
    /// document has not been read yet.
    let sendsResponseIssuer: Bool?
}

extension FinishPlan {
    /// - Throws: ``Problem``. Nothing is used up then.
    init(_ signIn: OpenedSignIn, _ request: FinishRequest, under rules: FinishRules) throws(Problem) {
        let audience = signIn.content.audience
        guard rules.policy.issuesTokensOfSignIns, rules.policy.audiences.containsExactly(audience) else {
            throw .signInInvalid
        }
        let client = rules.grants?.client(audience)
        switch signIn.content.kind {
        case .native:
            // A client that has got a profile begins no such sign-ins.
            guard rules.policy.nonce.isChecked, client?.profile == nil else { throw .signInInvalid }
            self = try Self.native(signIn, request, client)
        case .browser(let browser):
            guard let grants = rules.grants, let client, client.hasRedirectURI(browser.redirectURI),
                browser.issuer.isExactly(rules.policy.issuer),
                browser.isBound(under: rules.policy) || grants.allowsUnboundCodes,
                client.profile == nil || client.profile == browser.profile
            else { throw .signInInvalid }
            self = try Self.browser(signIn, browser, request, rules)
        }
    }

    /// - Parameter client: `nil` if the audience has no client.
    private static func native(
        _ signIn: OpenedSignIn, _ request: FinishRequest, _ client: OAuthClient?
    ) throws(Problem) -> FinishPlan {
        guard request.response == nil else {
            throw .requestInvalid(
                "response is only valid for sign-ins that began with redirect_uri; send id_token or code.")
        }
        if request.idToken == nil, request.code == nil {
            throw .requestInvalid("The request needs id_token or code, as the app got it from the provider.")
        }
        if request.idToken == nil, request.accessToken != nil {
            throw .requestInvalid(
                "access_token is only valid together with id_token, whose at_hash it is compared with; send id_token too, or omit access_token."
            )
        }
        if let uri = request.redirectURI {
            guard let client else { throw .clientNotConfigured }
            guard client.hasRedirectURI(uri) else { throw .redirectURINotConfigured }
        }
        var code: PendingExchange?
        if let text = request.code, client != nil {
            guard let secret = AuthorizationCode(text) else {
                throw .requestInvalid(
                    "code must have 1 to \(AuthorizationCode.maximumLength) printable ASCII characters.")
            }
            code = PendingExchange(
                // The nonce ties a native code to its sign-in, because the app's SDK does not use our PKCE verifier.
                request: .code(secret, redirectURI: request.redirectURI, verifier: nil), code: text,
                clientName: request.clientName, includesClaims: request.includesClaims)
        }
        guard let idToken = request.idToken else {
            guard let code else { throw .clientNotConfigured }
            return .code(code)
        }
        var parameters = signIn.content.parameters(clientName: request.clientName)
        parameters.accessToken = request.accessToken
        parameters.code = request.code
        let verification = signIn.content.verification(
            of: idToken, parameters, includesClaims: request.includesClaims)
        if let code { return .tokenThenCode(verification, code) }
        return .token(verification)
    }

    private static func browser(
        _ signIn: OpenedSignIn, _ browser: BrowserSignIn, _ request: FinishRequest, _ rules: FinishRules
    ) throws(Problem) -> FinishPlan {
        let checked = try request.browserResponse().check(
            against: browser, context: signIn.content.context, receivedAt: request.redirectURI,
            requiresIssuer: browser.requiresResponseIssuer ? true : rules.sendsResponseIssuer, rules.policy)
        var exchange = PendingExchange(
            request: .code(
                checked.code, redirectURI: browser.redirectURI, verifier: browser.verifier,
                resources: browser.requested?.resources ?? []),
            code: checked.codeText, clientName: checked.name, includesClaims: request.includesClaims)
        exchange.responseIssuer = checked.issuer
        guard let idToken = checked.idToken else { return .code(exchange) }
        exchange.responseState = checked.state
        var parameters = signIn.content.parameters(clientName: checked.name)
        parameters.code = checked.codeText
        parameters.isCodeHashOptional = false
        let verification = signIn.content.verification(
            of: Array(idToken.utf8)[...], parameters, includesClaims: request.includesClaims)
        return .tokenThenCode(verification, exchange)
    }
}

extension FinishRequest {
    /// The response to the browser's redirect URI.
    ///
    /// - Throws: ``Problem/requestInvalid(_:)`` if the request is that of a native sign-in.
    func browserResponse() throws(Problem) -> BrowserResponse {
        guard idToken == nil, code == nil, accessToken == nil, clientName == nil, let response else {
            throw .requestInvalid(
                "This sign-in began with redirect_uri; send response, and omit id_token, code, access_token and user.")
        }
        return response
    }

    /// Whether a code may be exchanged, or a response must be compared with what the provider says about them.
    fileprivate var needsDocument: Bool { response != nil || code != nil }

    /// Compares the connection of the backend's session with the one that the sign-in began with.
    ///
    /// - Throws: ``Problem/signInInvalid`` if it is another, ``Problem/requestInvalid(_:)`` if a member is missing.
    fileprivate func check(_ sealed: Connection?) throws(Problem) {
        guard let sealed else {
            if connection != nil { throw .connectionNotOpen }
            if client != nil { throw .clientNotNamed }
            return
        }
        guard let connection else {
            throw .requestInvalid(
                "This sign-in began with a connection; send connection again, as the session of this browser has it.")
        }
        guard connection.isExactly(sealed.id) else { throw .signInInvalid }
        if response != nil, redirectURI == nil {
            throw .requestInvalid(
                "redirect_uri is required for a sign-in of a connection: the address that received the response.")
        }
    }
}

extension BrowserSignIn {
    /// Whether a nonce or a verifier ties the code to this sign-in.
    fileprivate func isBound(under policy: ProviderPolicy) -> Bool {
        verifier != nil || (nonce != nil && policy.nonce.isChecked)
    }
}
