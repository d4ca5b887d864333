private import Bytes
package import IDToken
package import JSON
package import OpenSSL
package import ReplayStore
package import Verification

/// An opened sign-in and the ID Token that is to finish it, not verified yet.
package struct FinishingSignIn {
    let signIn: OpenedSignIn
    /// What verifies the token: with the nonce, the audience and the person of the sign-in, whatever the request says.
    package let verification: VerifyRequest

    /// - Parameter policy: of the sign-in's provider; `nil`: there is none any more.
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
            throw .requestInvalid("response is for sign-ins that began with redirect_uri; send id_token.")
        }
        guard let idToken = request.idToken else {
            guard request.code == nil else { throw .clientNotConfigured }
            throw .requestInvalid("The request needs id_token or code, as the app got it from the provider.")
        }
        // Until a provider has clients, none lists a redirect URI.
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

    /// - Parameter answer: that of ``verification``.
    package func verified(_ answer: VerifyAnswer) -> VerifiedSignIn { VerifiedSignIn(signIn: signIn, answer: answer) }
}

/// A sign-in whose ID Token was verified, and which may have been finished before.
package struct VerifiedSignIn {
    fileprivate let signIn: OpenedSignIn
    fileprivate let answer: VerifyAnswer

    /// What has to be claimed for it, by whoever finishes it first.
    ///
    /// - Throws: ``Problem/rejected(_:)`` where OpenSSL fails.
    package func claim(_ digests: borrowing DigestContext) throws(Problem) -> (key: ClaimKey, end: ClaimEnd) {
        do throws(OpenSSLError) {
            return (
                try ClaimKey("sign-in", of: [signIn.salt], digests), ClaimEnd(after: signIn.content.expiresAt.seconds)
            )
        } catch {
            throw .rejected(.cryptographyUnavailable)
        }
    }

    /// - Parameter outcome: of its ``claim(_:)``.
    /// - Throws: ``Problem/signInReplayed``, ``Problem/storeUnavailable(isSpent:)``.
    package func finished(_ outcome: ClaimOutcome) throws(Problem) -> FinishedSignIn {
        switch outcome {
        case .claimed: return FinishedSignIn(answer: answer, context: signIn.content.context)
        case .alreadyClaimed: throw .signInReplayed
        case .unavailable(let mayBeClaimed): throw .storeUnavailable(isSpent: mayBeClaimed)
        }
    }
}

/// A sign-in that was finished, by this request and no other.
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
