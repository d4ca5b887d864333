private import Bytes
package import Grants
package import IDToken
package import JSON
package import OpenSSL
package import ReplayStore
package import Verification

/// How an opened sign-in is finished. What the request has decides it.
package enum FinishPlan {
    /// By an ID Token alone, or with a code that is only compared with the token's `c_hash`.
    case token(FinishingSignIn)
    /// By a code alone, which is exchanged.
    case code(PendingExchange)
    /// By an ID Token, and then its code is exchanged.
    case tokenThenCode(TokenThenCode)

    /// - Parameters:
    ///   - policy: the policy of the sign-in's provider; `nil` if it is no longer configured.
    ///   - rules: `nil` if the provider has no clients.
    /// - Throws: ``Problem/signInInvalid``, ``Problem/clientNotConfigured``, ``Problem/redirectURINotConfigured``,
    ///   ``Problem/requestInvalid(_:)``.
    package init(
        _ signIn: OpenedSignIn, _ request: FinishRequest, under policy: ProviderPolicy?, _ rules: GrantRules?
    ) throws(Problem) {
        let content = signIn.content
        guard let policy, policy.nonce.isChecked, policy.issuesTokensOfSignIns,
            policy.audiences.containsExactly(content.audience)
        else {
            throw .signInInvalid
        }
        guard !request.hasResponse else {
            throw .requestInvalid(
                "response is only valid for sign-ins that began with redirect_uri; send id_token or code.")
        }
        if request.idToken == nil, request.code == nil {
            throw .requestInvalid("The request needs id_token or code, as the app got it from the provider.")
        }
        let client = rules?.client(content.audience)
        if let uri = request.redirectURI {
            guard let client else { throw .clientNotConfigured }
            guard client.hasRedirectURI(uri) else { throw .redirectURINotConfigured }
        }
        var code: PendingExchange?
        if let text = request.code, let client {
            guard let secret = AuthorizationCode(text) else {
                throw .requestInvalid("code must have 1 to \(AuthorizationCode.maximumLength) characters of ASCII.")
            }
            code = PendingExchange(
                signIn: signIn, clientID: client.id,
                // The nonce ties a native code to its sign-in: the app's SDK has no verifier of ours.
                request: .code(secret, redirectURI: request.redirectURI, verifier: nil), code: text,
                clientName: request.clientName, includesClaims: request.includesClaims)
        }
        guard let idToken = request.idToken else {
            guard let code else { throw .clientNotConfigured }
            self = .code(code)
            return
        }
        var parameters = content.parameters(clientName: request.clientName)
        parameters.accessToken = request.accessToken
        parameters.code = request.code
        let verification = VerifyRequest(
            ofSignIn: idToken, provider: content.provider, parameters: parameters,
            includesClaims: request.includesClaims)
        if let code {
            self = .tokenThenCode(TokenThenCode(verification: verification, code: code))
        } else {
            self = .token(FinishingSignIn(signIn: signIn, verification: verification))
        }
    }
}

extension SignIn {
    /// What an ID Token of this sign-in must have, whatever the finish request says.
    func parameters(clientName: ClientName?) -> VerificationParameters {
        var parameters = VerificationParameters(
            nonce: nonceText, audience: audience, maximumAuthenticationAgeSeconds: maximumAuthenticationAgeSeconds,
            clientName: clientName)
        parameters.authenticationAgeIsCountedFrom = begunAt
        parameters.expectedSubject = subject.map { ExpectedSubject(subject: $0, issuer: issuer) }
        parameters.isCodeHashOptional = true
        return parameters
    }
}

/// An opened sign-in and the ID Token that should finish it, which is not verified yet.
package struct FinishingSignIn {
    fileprivate let signIn: OpenedSignIn
    package let verification: VerifyRequest

    /// - Parameter answer: the answer to ``verification``.
    package func verified(_ answer: VerifyAnswer) -> VerifiedSignIn { VerifiedSignIn(signIn: signIn, answer: answer) }
}

/// An ID Token that must be verified before its code may be exchanged.
package struct TokenThenCode {
    package let verification: VerifyRequest
    fileprivate let code: PendingExchange

    /// - Parameter answer: the answer to ``verification``.
    package func verified(_ answer: VerifyAnswer) -> PendingExchange {
        var code = code
        code.first = answer
        return code
    }
}

extension OpenedSignIn {
    func claim(_ digests: borrowing DigestContext) throws(Problem) -> (key: ClaimKey, end: ClaimEnd) {
        do throws(OpenSSLError) {
            return (try ClaimKey("sign-in", of: [salt], digests), ClaimEnd(after: content.expiresAt.seconds))
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
    }
}

extension ClaimOutcome {
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    func requireClaimed() throws(Problem) {
        switch self {
        case .claimed: break
        case .alreadyClaimed: throw .signInReplayed
        case .unavailable(let mayBeClaimed): throw .storeUnavailable(isSpent: mayBeClaimed)
        }
    }
}

/// A sign-in whose ID Token has been verified, but which may have been finished before.
package struct VerifiedSignIn {
    fileprivate let signIn: OpenedSignIn
    fileprivate let answer: VerifyAnswer

    /// The claim that the first finish makes.
    ///
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> (key: ClaimKey, end: ClaimEnd) {
        try signIn.claim(digests)
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    package func finished(_ outcome: ClaimOutcome) throws(Problem) -> FinishedSignIn {
        try outcome.requireClaimed()
        return FinishedSignIn(answer: answer, context: signIn.content.context, grant: nil)
    }
}

/// A sign-in that this request, and no other, has finished.
package struct FinishedSignIn {
    let answer: VerifyAnswer
    let context: String?
    /// `nil` if no code was exchanged.
    let grant: Grant?

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        answer.writeMembers(to: &json)
        json.member("context", context)
        json.name("grant")
        if let grant {
            json.beginObject()
            grant.writeMembers(to: &json)
            json.endObject()
        } else {
            json.null()
        }
        json.endObject()
    }
}
