internal import IDToken
package import JOSE
internal import OAuth
internal import OpenSSL
internal import Replay
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

/// A sign-in that only this request finishes. A code is sent only for one of these.
struct ClaimedSignIn {
    let content: SignIn
    let claim: Claim

    fileprivate init(_ signIn: OpenedSignIn, _ claim: Claim) {
        content = signIn.content
        self.claim = claim
    }
}

extension Operation {
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    func claimed(_ signIn: OpenedSignIn, by claim: Claim, _ made: ClaimStore.Made) throws(Problem) -> ClaimedSignIn {
        self.claim = made
        if let problem = made.outcome.problem(ifClaimedBefore: .signInReplayed) { throw problem }
        return ClaimedSignIn(signIn, claim)
    }
}

/// A sign-in that only this request has finished.
package struct FinishedSignIn {
    let answer: VerifyAnswer
    let identity: Identity
    let context: String?
    /// `nil` if no code was exchanged.
    let grant: BoundGrant?
    /// The names of claims that the provider passes on from another party; none of them is in the identity.
    let unverifiedClaims: [String]

    init(
        _ signIn: ClaimedSignIn, _ answer: VerifyAnswer, _ identity: Identity, _ grant: BoundGrant?,
        unverifiedClaims: [String] = []
    ) {
        self.answer = answer
        self.identity = identity
        context = signIn.content.context
        self.grant = grant
        self.unverifiedClaims = unverifiedClaims
    }

    /// Writes the answer as a JSON object, every member present but for `unverified_claims`.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        answer.writeMembers(identity, to: &json)
        json.member("context", context)
        json.name("grant")
        if let grant {
            grant.write(to: &json)
        } else {
            json.null()
        }
        if !unverifiedClaims.isEmpty { json.array("unverified_claims", unverifiedClaims) }
        json.endObject()
    }
}

/// Why a request that uses up a sign-in, code or token failed, and whether it is used up.
package struct FinishFailure: Error, Sendable {
    package let problem: Problem
    /// Whether the sign-in, code or token is used up, or may be.
    package let isSpent: Bool
    /// Whether the provider returned a grant, which is dropped.
    package private(set) var dropsGrant = false

    init(_ problem: Problem, isSpent: Bool) {
        self.problem = problem
        self.isSpent = isSpent
    }

    /// The failure of a request before anything was sent to the provider.
    static func before(_ problem: Problem) -> FinishFailure {
        FinishFailure(problem, isSpent: problem.isSpent)
    }

    /// The failure of a code exchange. A code can be exchanged only once.
    static func ofCode(_ failure: CallFailure) -> FinishFailure {
        FinishFailure(failure, isSpent: failure.isSent)
    }

    /// The failure of a call that asked for a grant.
    init(_ failure: CallFailure, isSpent: Bool) {
        self.init(Problem(failure), isSpent: isSpent)
        dropsGrant = failure == .answerInvalid(.notBound)
    }

    /// The failure of a request after the provider has returned a grant, which is dropped.
    static func afterGrant(_ problem: Problem, isSpent: Bool = true) -> FinishFailure {
        var failure = FinishFailure(problem, isSpent: isSpent)
        failure.dropsGrant = true
        return failure
    }
}

extension CallFailure {
    fileprivate var isSent: Bool { if case .notSent = self { false } else { true } }
}
