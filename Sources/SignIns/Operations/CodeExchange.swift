private import Bytes
package import IDToken
private import JOSE
package import OAuth
package import OpenSSL
package import Replay
package import Verification

/// A sign-in whose code may be exchanged after the sign-in has been claimed.
package struct PendingExchange {
    let signIn: OpenedSignIn
    let request: GrantRequest
    let code: String
    let clientName: ClientName?
    let includesClaims: Bool
    /// The answer for the request's ID Token; `nil` if it had none.
    var first: VerifyAnswer?
    /// The canonical issuer that the response named; `nil` if it named none.
    var responseIssuer: String?

    init(
        signIn: OpenedSignIn, request: GrantRequest, code: String, clientName: ClientName?, includesClaims: Bool
    ) {
        self.signIn = signIn
        self.request = request
        self.code = code
        self.clientName = clientName
        self.includesClaims = includesClaims
    }

    /// The claim that the first finish makes.
    ///
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> Claim {
        try signIn.claim(digests)
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    package func claimed(_ outcome: ClaimOutcome) throws(Problem) -> ClaimedExchange {
        try outcome.requireClaimed()
        return ClaimedExchange(pending: self)
    }
}

/// A sign-in that only this request may finish. Sending a code requires one.
package struct ClaimedExchange {
    let pending: PendingExchange

    package var clientID: String { pending.signIn.content.audience }
    package var request: GrantRequest { pending.request }

    /// The failure if nothing was sent.
    ///
    /// - Parameter isReleased: whether the claim is known to be released.
    package func notSent(_ failure: CallFailure, isReleased: Bool) -> FinishFailure {
        FinishFailure(Problem(failure), isSpent: !isReleased)
    }

    /// - Throws: a failure if neither the grant nor the request has an ID Token.
    package func exchanged(_ grant: Grant) throws(FinishFailure) -> ExchangedSignIn {
        if grant.idToken == nil, pending.first == nil {
            throw FinishFailure(.providerAnswerInvalid(.member(.idToken)), isSpent: true, dropsGrant: true)
        }
        return ExchangedSignIn(pending: pending, grant: grant)
    }
}

/// A grant whose ID Token is not verified yet.
package struct ExchangedSignIn {
    let pending: PendingExchange
    let grant: Grant

    /// The request to verify the grant's ID Token. `nil` if it has none; the ID Token in the finish request must then
    /// have been verified.
    package var verification: VerifyRequest? {
        guard let idToken = grant.idToken else { return nil }
        let content = pending.signIn.content
        var parameters = content.parameters(clientName: pending.clientName)
        parameters.accessToken = grant.accessTokenText
        parameters.isAccessTokenHashOptional = true
        parameters.code = pending.code
        if let first = pending.first {
            // The nonce was checked in the first token. Comparing the subject prevents the injection of another user's
            // code.
            parameters.nonceUse = .compareIfPresent
            parameters.expectedSubject = ExpectedSubject(
                subject: first.identity.subject, issuer: first.identity.issuer)
        }
        return VerifyRequest(
            ofSignIn: idToken[...], provider: content.provider, parameters: parameters,
            includesClaims: pending.includesClaims)
    }

    /// - Parameter verdict: the verdict on ``verification``.
    /// - Throws: a failure if the ID Token is refused, or from another issuer than the response named. The grant is
    ///   then dropped.
    package func verified(_ verdict: Verdict<VerifyAnswer>?) throws(FinishFailure) -> VerifiedExchange {
        var answer = pending.first
        switch verdict {
        case .refused(let problem, _)?: throw FinishFailure(problem, isSpent: true, dropsGrant: true)
        case .verified(let exchanged, _)?:
            if let named = pending.responseIssuer, !named.isExactly(exchanged.identity.issuer) {
                throw FinishFailure(.responseIssuerMismatch(.notTheTokens), isSpent: true, dropsGrant: true)
            }
            // Some claims, such as Apple's `real_user_status`, are only in the first token.
            answer = answer ?? exchanged
        case nil: break
        }
        guard let answer else {
            throw FinishFailure(.providerAnswerInvalid(.member(.idToken)), isSpent: true, dropsGrant: true)
        }
        return VerifiedExchange(answer: answer, context: pending.signIn.content.context, grant: grant)
    }
}

/// A sign-in whose exchanged ID Token is verified. The UserInfo endpoint may complete the identity.
package struct VerifiedExchange {
    private let answer: VerifyAnswer
    private let context: String?
    private let grant: Grant

    fileprivate init(answer: VerifyAnswer, context: String?, grant: Grant) {
        self.answer = answer
        self.context = context
        self.grant = grant
    }

    package var userInfoRequest: UserInfoRequest { UserInfoRequest(grant.accessToken) }
    /// The user whom the ID Token names.
    package var subject: String { answer.identity.subject }

    package var finished: FinishedSignIn {
        FinishedSignIn(answer: answer, identity: answer.identity, context: context, grant: grant)
    }

    /// - Parameter userInfo: the claims of ``subject``, or why there are none.
    /// - Throws: a failure if there are none, or if a claim is malformed. The grant is then dropped.
    package func finished(
        _ userInfo: Result<[UInt8], CallFailure>, under policy: ProviderPolicy
    ) throws(FinishFailure) -> FinishedSignIn {
        func failure(_ problem: Problem) -> FinishFailure { FinishFailure(problem, isSpent: true, dropsGrant: true) }
        switch userInfo {
        case .failure(let reason): throw failure(Problem(reason))
        case .success(let text):
            guard let claims = try? JSONObject(text) else { throw failure(.providerAnswerInvalid(.notJSON)) }
            do throws(Rejection) {
                let identity = try answer.identity.completed(byUserInfo: claims, policy)
                return FinishedSignIn(answer: answer, identity: identity, context: context, grant: grant)
            } catch {
                throw failure(.providerAnswerInvalid(error.claim.map { .claim($0.string) } ?? .notJSON))
            }
        }
    }
}
