package import AccessTokens
package import IDToken
private import JOSE

extension IDTokenVerifier {
    /// Explains why a string is not an access token.
    ///
    /// - Parameter rejection: the error with which it was refused.
    package func explain(malformedAccessToken text: ArraySlice<UInt8>, _ rejection: Rejection) -> Explanation {
        Explanation(
            [MalformedToken(text, as: .accessToken).check(rejection)], of: CheckName.ofAccessTokens,
            notReached: "the token can't be read",
            validSummary: "")
    }

    /// Explains why a token matches no provider with `tokens: access`.
    ///
    /// - Parameters:
    ///   - policies: the policies of all providers with `tokens: access`.
    ///   - providerOfIDTokens: the ID of the provider that verifies ID Tokens of this issuer; `nil` if there is none.
    ///   - now: the current time.
    package func explain(
        accessToken token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], providerOfIDTokens: String?,
        now: UnixTime
    ) -> Explanation {
        var check = Check.providerUnknown(token, policies, isAccessToken: true)
        if let providerOfIDTokens { check = .verifiesIDTokens(token, providerOfIDTokens) }
        let cause = Explanation.Cause(check)
        if token.unverifiedIssuer != nil { check.explanation += Explanation.unverifiedNote }
        return Explanation(
            [.wellFormed, check], of: CheckName.ofAccessTokens, notReached: "there is no provider whose rules apply",
            validSummary: "", likelyCause: cause, contents: contents(of: token, now: now))
    }

    /// Explains the result of verifying an access token. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - isNamed: whether the request named the provider; otherwise, the token's issuer did.
    ///   - others: the policies of all other providers with `tokens: access`.
    ///   - parameters: the parameters of this request.
    ///   - now: the current time.
    package func explain(
        accessToken token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, isNamed: Bool, others: [ProviderPolicy],
        expecting parameters: AccessTokenParameters, now: UnixTime
    ) -> Explanation {
        let recorder = CheckRecorder()
        let results: AccessTokenCheckResults
        do throws(Rejection) {
            results = try jwsVerifier.runAccessTokenChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy, dialect,
                expecting: parameters, now: now, watchedBy: recorder)
        } catch {
            // The recorder never ends a verification.
            return explain(malformedAccessToken: [], error)
        }
        var described = VerificationParameters()
        described.audience = parameters.audience
        described.authenticatedAfter = parameters.authenticatedAfter
        described.expectedSubject = parameters.expectedSubject
        let descriptions = CheckDescriptions(
            token: token, kind: .accessToken(dialect, scopes: parameters.scopes), policy: policy,
            parameters: described, usesNoncesOnce: false, keys: keys, others: others, accessTokens: nil, now: now,
            checker: jwsVerifier.checker, jws: results.jws, nonceMatch: nil)
        return Explanation(recorder.outcomes, descriptions, isNamed: isNamed, contents: contents(of: token, now: now))
    }
}

extension Check {
    /// The token's issuer, or the request, names a provider that verifies only ID Tokens.
    fileprivate static func verifiesIDTokens(_ token: UnverifiedToken, _ id: String) -> Check {
        let diagnosis =
            if case .idToken(let reason) = TokenKindGuess(token) {
                Diagnosis(
                    "The token is an ID Token (\(reason)), which the provider \(id) verifies, but access tokens are verified here.",
                    fix: "Send it to POST /v1/verify.")
            } else {
                Diagnosis(
                    "The provider \(id) verifies only ID Tokens, but access tokens are verified here.",
                    fix: "To accept its access tokens, add a provider with this issuer and tokens: access.")
            }
        return .failed(.provider, .providerUnknown, diagnosis, found: id)
    }
}
