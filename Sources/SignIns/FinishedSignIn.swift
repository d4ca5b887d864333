private import Bytes
package import IDToken
package import JSON
package import OpenSSL
package import ReplayStore
package import Verification

/// An opened sign-in and the ID Token that should finish it, which is not verified yet.
package struct FinishingSignIn {
    let signIn: OpenedSignIn
    /// The request to verify the token. Nonce, audience and subject are the sign-in's, whatever the finish request
    /// says.
    package let verification: VerifyRequest

    /// - Parameter policy: the policy of the sign-in's provider; `nil` if it is no longer configured.
    /// - Throws: ``Problem/signInInvalid``, ``Problem/clientNotConfigured``, ``Problem/requestInvalid(_:)``.
    package init(
        _ signIn: OpenedSignIn, _ request: FinishRequest, under policy: ProviderPolicy?
    ) throws(Problem) {
        let content = signIn.content
        guard let policy, policy.nonce.isChecked, policy.issuesTokensOfSignIns,
            policy.audiences.containsExactly(content.audience)
        else {
            throw .signInInvalid
        }
        guard !request.hasResponse else {
            throw .requestInvalid("response is only valid for sign-ins that began with redirect_uri; send id_token.")
        }
        guard let idToken = request.idToken else {
            guard request.code == nil else { throw .clientNotConfigured }
            throw .requestInvalid("The request needs a member id_token, as the app got it from the provider.")
        }
        // Providers can't have clients yet, so no redirect URI is configured.
        guard request.redirectURI == nil else { throw .clientNotConfigured }
        var parameters = VerificationParameters(
            nonce: content.nonceText, audience: content.audience,
            maximumAuthenticationAgeSeconds: content.maximumAuthenticationAgeSeconds, accessToken: request.accessToken,
            code: request.code, clientName: request.clientName)
        parameters.authenticationAgeIsCountedFrom = content.begunAt
        parameters.expectedSubject = content.subject.map { ExpectedSubject(subject: $0, issuer: content.issuer) }
        parameters.isCodeHashOptional = true
        self.signIn = signIn
        verification = VerifyRequest(
            ofSignIn: idToken, provider: content.provider, parameters: parameters,
            includesClaims: request.includesClaims)
    }

    /// - Parameter answer: the answer to ``verification``.
    package func verified(_ answer: VerifyAnswer) -> VerifiedSignIn { VerifiedSignIn(signIn: signIn, answer: answer) }
}

/// A sign-in whose ID Token has been verified, but which may have been finished before.
package struct VerifiedSignIn {
    fileprivate let signIn: OpenedSignIn
    fileprivate let answer: VerifyAnswer

    /// The claim that the first finish makes.
    ///
    /// - Throws: ``Problem/rejected(_:)`` if OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> (key: ClaimKey, end: ClaimEnd) {
        do throws(OpenSSLError) {
            return (
                try ClaimKey("sign-in", of: [signIn.salt], digests), ClaimEnd(after: signIn.content.expiresAt.seconds)
            )
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
    }

    /// - Parameter outcome: the outcome of its ``claim(_:)``.
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    package func finished(_ outcome: ClaimOutcome) throws(Problem) -> FinishedSignIn {
        switch outcome {
        case .claimed: return FinishedSignIn(answer: answer, context: signIn.content.context)
        case .alreadyClaimed: throw .signInReplayed
        case .unavailable(let mayBeClaimed): throw .storeUnavailable(isSpent: mayBeClaimed)
        }
    }
}

/// A sign-in that this request, and no other, has finished.
package struct FinishedSignIn {
    fileprivate let answer: VerifyAnswer
    fileprivate let context: String?

    /// Writes the answer as a JSON object, every member present.
    package func write(to json: inout JSONWriter) {
        json.beginObject()
        answer.writeMembers(to: &json)
        json.member("context", context)
        json.member("grant", nil as String?)
        json.endObject()
    }
}
