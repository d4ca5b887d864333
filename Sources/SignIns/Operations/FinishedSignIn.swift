internal import IDToken
package import JOSE
package import OAuth
package import OpenSSL
package import Replay
package import Verification

extension SignIn {
    /// The parameters that an ID Token of this sign-in must match, whatever the finish request contains.
    func parameters(clientName: ClientName?) -> VerificationParameters {
        var parameters = VerificationParameters(
            nonce: nonce?.text, audience: audience, maximumAuthenticationAgeSeconds: maximumAuthenticationAgeSeconds,
            clientName: clientName)
        parameters.authenticationAgeIsCountedFrom = begunAt
        parameters.expectedSubject = subject.map { ExpectedSubject(subject: $0, issuer: issuer) }
        parameters.isCodeHashOptional = true
        if case .browser = kind { parameters.requiresAuthenticationTime = true }
        return parameters
    }
}

/// An opened sign-in and the ID Token that should finish it, which is not verified yet.
package struct FinishingSignIn {
    let signIn: OpenedSignIn
    package let verification: VerifyRequest

    /// - Parameter answer: the answer to ``verification``.
    package func verified(_ answer: VerifyAnswer) -> VerifiedSignIn { VerifiedSignIn(signIn: signIn, answer: answer) }
}

/// An ID Token that must be verified before its code may be exchanged.
package struct TokenThenCode {
    package let verification: VerifyRequest
    let code: PendingExchange

    /// - Parameter answer: the answer to ``verification``.
    package func verified(_ answer: VerifyAnswer) -> PendingExchange {
        var code = code
        code.first = answer
        return code
    }
}

extension OpenedSignIn {
    func claim(_ digests: borrowing DigestContext) throws(Problem) -> Claim {
        do throws(OpenSSLError) {
            return Claim(
                key: try ClaimKey("sign-in", of: [salt], digests), end: ClaimEnd(after: content.expiresAt.seconds),
                provider: content.provider)
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
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> Claim {
        try signIn.claim(digests)
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    package func finished(_ outcome: ClaimOutcome) throws(Problem) -> FinishedSignIn {
        try outcome.requireClaimed()
        return FinishedSignIn(
            answer: answer, identity: answer.identity, context: signIn.content.context, grant: nil)
    }
}

/// A sign-in that only this request has finished.
package struct FinishedSignIn {
    let answer: VerifyAnswer
    let identity: Identity
    let context: String?
    /// `nil` if no code was exchanged.
    let grant: Grant?

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        answer.writeMembers(identity, to: &json)
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

/// Why a request that uses up a sign-in, code or token failed, and whether it is used up.
package struct FinishFailure: Error, Sendable {
    package let problem: Problem
    /// Whether the sign-in, code or token is used up, or may be.
    package let isSpent: Bool
    /// Whether the provider returned a grant, which is dropped.
    package var dropsGrant = false

    package init(_ problem: Problem, isSpent: Bool, dropsGrant: Bool = false) {
        self.problem = problem
        self.isSpent = isSpent
        self.dropsGrant = dropsGrant
    }

    /// The failure of a request before anything was sent to the provider.
    package static func before(_ problem: Problem) -> FinishFailure {
        FinishFailure(problem, isSpent: problem.isSpent)
    }

    /// The failure of a code exchange. A code can be exchanged only once.
    package static func ofCode(_ failure: CallFailure) -> FinishFailure {
        FinishFailure(Problem(failure), isSpent: failure.isSent)
    }
}

extension CallFailure {
    package var isSent: Bool { if case .notSent = self { false } else { true } }
}
