package import HTTP
private import IDToken
package import JOSE
private import Keys
internal import OAuth
package import Verification

/// The body of `POST /v1/grants/revoke`.
struct RevokeRequest {
    private let client: GrantClient
    private let target: Target

    private enum Target {
        case token(RevocationRequest)
        case code(AuthorizationCode, text: String, redirectURI: String?, subject: ExpectedSubject?)
    }

    var provider: String { client.provider }

    /// - Throws: ``Problem/requestInvalid(_:)``.
    init(_ object: JSONObject) throws(Problem) {
        client = try GrantClient(object, beside: Names.all)
        let token: RevocableToken? = try object.secret(Names.token)
        let code: AuthorizationCode? = try object.secret(MemberNames.code)
        let hint = try object.string(Names.hint, characters: 1...255)
        let redirectURI = try object.string(Names.redirectURI, characters: 1...2048)
        let subject = try ExpectedSubject(of: object, client.connection)
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
            if client.binding != nil {
                throw .requestInvalid("binding is only valid together with token; omit it.")
            }
            target = .code(
                code, text: try object.string(MemberNames.code, characters: MemberBounds.code) ?? "",
                redirectURI: redirectURI, subject: subject)
        case (nil, nil), (_?, _?):
            throw .requestInvalid("The request needs either token or code.")
        }
    }

    /// - Throws: ``Problem/audienceNotConfigured``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``,
    ///   ``Problem/redirectURINotConfigured``, ``Problem/bindingInvalid``.
    fileprivate func ready(
        at provider: Provider, in operation: Operation, by signIns: LoopSignIns?
    ) throws(Problem) -> (ReadyRevocation, GrantCalls) {
        let client = try client.client(of: provider, in: operation)
        let calls = try self.client.calls(of: operation, to: provider, by: client)
        switch target {
        case .token(let request):
            return (.token(request, provenBy: try self.client.proofKey(of: client, by: signIns)), calls)
        case .code(let code, let text, let redirectURI, let subject):
            if let redirectURI, !client.hasRedirectURI(redirectURI) { throw .redirectURINotConfigured }
            try subject?.check(against: operation.policy(of: provider))
            let revocation = CodeToRevoke(
                provider: self.provider, connection: operation.connection, clientID: client.id,
                request: .code(code, redirectURI: redirectURI, verifier: nil),
                proofKey: try calls.newProofKey(), code: text, subject: subject)
            return (.code(revocation), calls)
        }
    }

    private enum Names {
        static let token: JSONName = "token"
        static let hint: JSONName = "token_type_hint"
        static let redirectURI: JSONName = "redirect_uri"
        static let all = [
            MemberNames.provider, token, hint, GrantClient.binding, MemberNames.audience, MemberNames.code,
            redirectURI, MemberNames.subject, MemberNames.issuer, RequestAuthentication.name,
        ]
    }
}

extension Operation {
    /// Revokes a token, or the tokens of a code, which is exchanged first.
    ///
    /// - Parameter signIns: `nil` if sign-ins are off; no grant is bound then.
    package func revoke(
        _ body: JSONObject, by signIns: LoopSignIns?
    ) throws(Problem) -> Reply<Void, Problem> {
        let request = try RevokeRequest(body)
        let provider = try provider(named: request.provider)
        grant = .revoke
        let (revocation, calls) = try request.ready(at: provider, in: self, by: signIns)
        // A connection's document may have to be read first.
        if connection == nil { _ = try calls.revocationEndpoint() }
        return .later { () async throws(Problem) in
            try await self.requireDocument()
            let address = try calls.revocationEndpoint()
            switch revocation {
            case .token(let request, let key):
                try await calls.revoke(request, provenBy: key, at: address, try calls.slot())
            case .code(let code): try await self.revoke(code, at: address, calls)
            }
        }
    }

    /// Exchanges a code, verifies the returned ID Token, and revokes the tokens.
    private func revoke(_ code: CodeToRevoke, at address: FetchURL, _ calls: GrantCalls) async throws(Problem) {
        try await requireUsableKeys()
        // One slot covers both calls: if the second had to reserve its own and got none, the code would be lost.
        let slot = try calls.slot()
        let tokenEndpoint = try calls.tokenEndpoint()
        let grant: Grant
        do throws(CallFailure) {
            grant = try await calls.exchange(code.request, provenBy: code.proofKey, at: tokenEndpoint, slot)
        } catch {
            throw Problem(error)
        }
        _ = try await verify(try code.verification(of: grant))
        // It is not dropped, but revoked.
        holdsGrant = false
        let request = grant.refreshToken.map(RevocationRequest.init) ?? RevocationRequest(grant.accessToken)
        try await calls.revoke(request, provenBy: code.proofKey, at: address, slot)
    }
}

/// A revocation that fits the settings.
private enum ReadyRevocation {
    case token(RevocationRequest, provenBy: ProofKey?)
    case code(CodeToRevoke)
}

/// A code whose tokens are to be revoked.
private struct CodeToRevoke {
    let provider: String
    let connection: Connection?
    let clientID: String
    let request: GrantRequest
    /// `nil` if grants of the client are not bound.
    let proofKey: ProofKey?
    let code: String
    let subject: ExpectedSubject?

    /// The request to verify the grant's ID Token. Its nonce is not known here.
    ///
    /// - Throws: ``Problem/providerAnswerInvalid(_:)`` if the grant has none.
    func verification(of grant: Grant) throws(Problem) -> VerifyRequest {
        guard let idToken = grant.idToken else { throw .providerAnswerInvalid(.member(.idToken)) }
        var parameters = VerificationParameters(
            audience: clientID, accessToken: grant.accessTokenText, code: code, expectedSubject: subject)
        parameters.nonceUse = .ignoreFromTokenEndpoint
        parameters.isAccessTokenHashOptional = true
        parameters.isCodeHashOptional = true
        return VerifyRequest(
            ofSignIn: idToken[...], provider: provider, parameters: parameters, includesClaims: false,
            connection: connection)
    }
}
