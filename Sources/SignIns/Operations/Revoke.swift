package import IDToken
package import JOSE
package import OAuth
package import Verification

/// The body of `POST /v1/grants/revoke`.
package struct RevokeRequest {
    private let client: GrantClient
    private let target: Target

    private enum Target {
        case token(RevocationRequest)
        case code(AuthorizationCode, text: String, redirectURI: String?, subject: ExpectedSubject?)
    }

    package var provider: String { client.provider }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    package init(_ object: JSONObject) throws(Problem) {
        try object.requireOnly(Names.all, in: "request")
        client = try GrantClient(object)
        let token: RevocableToken? = try object.secret(Names.token)
        let code: AuthorizationCode? = try object.secret(MemberNames.code)
        let hint = try object.string(Names.hint, characters: 1...255)
        let redirectURI = try object.string(Names.redirectURI, characters: 1...2048)
        let subject = try ExpectedSubject(of: object)
        switch (token, code) {
        case (let token?, nil):
            if redirectURI != nil || subject != nil {
                throw .requestInvalid("redirect_uri, subject and issuer are only valid together with code; omit them.")
            }
            let known = hint.flatMap(TokenHint.init(rawValue:))
            if hint != nil, known == nil {
                throw .requestInvalid("token_type_hint must be refresh_token or access_token.")
            }
            target = .token(RevocationRequest(token, hint: known))
        case (nil, let code?):
            if hint != nil { throw .requestInvalid("token_type_hint is only valid together with token; omit it.") }
            target = .code(
                code, text: try object.string(MemberNames.code, characters: MemberBounds.code) ?? "",
                redirectURI: redirectURI, subject: subject)
        case (nil, nil), (_?, _?):
            throw .requestInvalid("The request needs either token or code.")
        }
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``,
    ///   ``Problem/redirectURINotConfigured``.
    package func ready(under policy: ProviderPolicy, _ rules: GrantRules?) throws(Problem) -> ReadyRevocation {
        let client = try client.client(under: policy, rules)
        switch target {
        case .token(let request): return .token(request, clientID: client.id)
        case .code(let code, let text, let redirectURI, let subject):
            if let redirectURI, !client.hasRedirectURI(redirectURI) { throw .redirectURINotConfigured }
            try subject?.check(against: policy)
            return .code(
                CodeToRevoke(
                    provider: provider, clientID: client.id,
                    request: .code(code, redirectURI: redirectURI, verifier: nil), code: text, subject: subject))
        }
    }

    private enum Names {
        static let token: JSONName = "token"
        static let hint: JSONName = "token_type_hint"
        static let redirectURI: JSONName = "redirect_uri"
        static let all = [
            MemberNames.provider, token, hint, MemberNames.audience, MemberNames.code, redirectURI,
            MemberNames.subject, MemberNames.issuer,
        ]
    }
}

/// A revocation that fits the settings.
package enum ReadyRevocation {
    case token(RevocationRequest, clientID: String)
    case code(CodeToRevoke)
}

/// A code whose tokens are to be revoked: it is exchanged first.
package struct CodeToRevoke {
    private let provider: String
    package let clientID: String
    package let request: GrantRequest
    private let code: String
    private let subject: ExpectedSubject?

    fileprivate init(
        provider: String, clientID: String, request: GrantRequest, code: String, subject: ExpectedSubject?
    ) {
        self.provider = provider
        self.clientID = clientID
        self.request = request
        self.code = code
        self.subject = subject
    }

    /// The request to verify the grant's ID Token. Its nonce is not known here.
    ///
    /// - Throws: a failure if the grant has none.
    package func verification(of grant: Grant) throws(FinishFailure) -> VerifyRequest {
        guard let idToken = grant.idToken else {
            throw FinishFailure(.providerAnswerInvalid(.member(.idToken)), isSpent: true, dropsGrant: true)
        }
        var parameters = VerificationParameters(
            audience: clientID, accessToken: grant.accessTokenText, code: code, expectedSubject: subject)
        parameters.nonceUse = .ignoreFromTokenEndpoint
        parameters.isAccessTokenHashOptional = true
        parameters.isCodeHashOptional = true
        return VerifyRequest(
            ofSignIn: idToken[...], provider: provider, parameters: parameters, includesClaims: false)
    }

    /// The request to revoke what was granted: the refresh token, or else the access token.
    ///
    /// - Parameter verdict: on the grant's ID Token.
    /// - Throws: a failure if it is refused; nothing is then revoked.
    package func revocation(of grant: Grant, _ verdict: Verdict<VerifyAnswer>) throws(FinishFailure)
        -> RevocationRequest
    {
        if case .refused(let problem, _) = verdict {
            throw FinishFailure(problem, isSpent: true, dropsGrant: true)
        }
        return grant.refreshToken.map(RevocationRequest.init) ?? RevocationRequest(grant.accessToken)
    }
}
