package import HTTP
internal import IDToken
package import JOSE
private import Keys
internal import OAuth
package import Verification

/// The body of `POST /v1/grants/revoke`.
struct RevokeRequest {
    let client: GrantClient
    let target: Target

    enum Target {
        case token(RevocationRequest)
        case code(CodeToRevoke)
    }

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
            let text = try object.string(MemberNames.code, characters: MemberBounds.code) ?? ""
            target = .code(CodeToRevoke(code: code, text: text, redirectURI: redirectURI, subject: subject))
        case (nil, nil), (_?, _?):
            throw .requestInvalid("The request needs either token or code.")
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
        let provider = try provider(named: request.client.provider)
        grant = .revoke
        let client = try request.client.client(of: provider, in: self)
        let calls = try request.client.calls(of: self, to: provider, by: client)
        let proofKey: ProofKey?
        switch request.target {
        case .token: proofKey = try request.client.proofKey(of: client, by: signIns)
        case .code(let code):
            if let uri = code.redirectURI, !client.hasRedirectURI(uri) { throw .redirectURINotConfigured }
            try code.subject?.check(against: policy(of: provider))
            proofKey = try calls.newProofKey()
        }
        // A connection's document may have to be read first.
        if connection == nil { _ = try calls.revocationEndpoint() }
        return .later { () async throws(Problem) in
            try await self.requireDocument()
            let address = try calls.revocationEndpoint()
            switch request.target {
            case .token(let token): try await calls.revoke(token, provenBy: proofKey, at: address, try calls.slot())
            case .code(let code): try await self.revoke(code, provenBy: proofKey, at: address, calls)
            }
        }
    }

    /// Exchanges a code, verifies the returned ID Token, and revokes the tokens.
    private func revoke(
        _ code: CodeToRevoke, provenBy proofKey: ProofKey?, at address: FetchURL, _ calls: GrantCalls
    ) async throws(Problem) {
        try await requireUsableKeys()
        // One slot covers both calls: if the second had to reserve its own and got none, the code would be lost.
        let slot = try calls.slot()
        let tokenEndpoint = try calls.tokenEndpoint()
        let request = GrantRequest.code(code.code, redirectURI: code.redirectURI, verifier: nil)
        let grant: Grant
        do throws(CallFailure) {
            grant = try await calls.exchange(request, provenBy: proofKey, at: tokenEndpoint, slot)
        } catch {
            throw Problem(error)
        }
        guard let verification = calls.verification(of: grant, subject: code.subject, code: code.text) else {
            throw .providerAnswerInvalid(.member(.idToken))
        }
        _ = try await verify(verification)
        // It is not dropped, but revoked.
        holdsGrant = false
        let token = grant.refreshToken.map(RevocationRequest.init) ?? RevocationRequest(grant.accessToken)
        try await calls.revoke(token, provenBy: proofKey, at: address, slot)
    }
}

/// A code whose tokens are to be revoked.
struct CodeToRevoke {
    let code: AuthorizationCode
    /// The text of ``code``, to check the ID Token's `c_hash`.
    let text: String
    let redirectURI: String?
    let subject: ExpectedSubject?
}
