package import Grants
internal import IDToken
package import OpenSSL
package import ReplayStore
package import Verification

/// A sign-in whose code may be exchanged once the sign-in is claimed.
package struct PendingExchange {
    let signIn: OpenedSignIn
    let clientID: String
    let request: GrantRequest
    let code: String
    let clientName: ClientName?
    let includesClaims: Bool
    /// The answer for the request's ID Token; `nil` if it had none.
    var first: VerifyAnswer?

    init(
        signIn: OpenedSignIn, clientID: String, request: GrantRequest, code: String, clientName: ClientName?,
        includesClaims: Bool
    ) {
        self.signIn = signIn
        self.clientID = clientID
        self.request = request
        self.code = code
        self.clientName = clientName
        self.includesClaims = includesClaims
    }

    /// The claim that the first finish makes.
    ///
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> (key: ClaimKey, end: ClaimEnd) {
        try signIn.claim(digests)
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    package func claimed(_ outcome: ClaimOutcome) throws(Problem) -> ClaimedExchange {
        try outcome.requireClaimed()
        return ClaimedExchange(pending: self)
    }
}

/// A sign-in that this request alone may finish: the only one whose code can be sent.
package struct ClaimedExchange {
    let pending: PendingExchange

    package var clientID: String { pending.clientID }
    package var request: GrantRequest { pending.request }

    /// The failure if nothing was sent.
    ///
    /// - Parameter isReleased: whether the claim is known to be released.
    package func notSent(_ failure: CallFailure, isReleased: Bool) -> FinishFailure {
        FinishFailure(Problem(failure), isSpent: !isReleased)
    }

    /// - Throws: a failure if there is no ID Token, neither in the grant nor in the request.
    package func exchanged(_ grant: Grant) throws(FinishFailure) -> ExchangedSignIn {
        if grant.idToken == nil, pending.first == nil {
            throw FinishFailure(.providerAnswerInvalid, isSpent: true, dropsGrant: true)
        }
        return ExchangedSignIn(pending: pending, grant: grant)
    }
}

/// A grant whose ID Token is not verified yet.
package struct ExchangedSignIn {
    let pending: PendingExchange
    let grant: Grant

    /// The request to verify the grant's ID Token; `nil` if none came, and the request's was verified.
    package var verification: VerifyRequest? {
        guard let idToken = grant.idToken else { return nil }
        let content = pending.signIn.content
        var parameters = content.parameters(clientName: pending.clientName)
        parameters.accessToken = grant.accessTokenText
        parameters.isAccessTokenHashOptional = true
        parameters.code = pending.code
        if let first = pending.first {
            // The nonce was in the first token. Whoever injects a code of another person is stopped by the subject.
            parameters.nonceUse = .compareIfPresent
            parameters.expectedSubject = ExpectedSubject(subject: first.subject, issuer: first.issuer)
        }
        return VerifyRequest(
            ofSignIn: idToken[...], provider: content.provider, parameters: parameters,
            includesClaims: pending.includesClaims)
    }

    /// - Parameter verdict: the verdict on ``verification``.
    /// - Throws: a failure if the ID Token is refused; nobody gets the grant then.
    package func finished(_ verdict: Verdict?) throws(FinishFailure) -> FinishedSignIn {
        var answer = pending.first
        switch verdict {
        case .refused(let problem, _)?: throw FinishFailure(problem, isSpent: true, dropsGrant: true)
        // Some claims, such as Apple's `real_user_status`, are only in the first token.
        case .verified(let exchanged, _)?: answer = answer ?? exchanged
        case nil: break
        }
        guard let answer else { throw FinishFailure(.providerAnswerInvalid, isSpent: true, dropsGrant: true) }
        return FinishedSignIn(answer: answer, context: pending.signIn.content.context, grant: grant)
    }
}
