public import IDToken
private import JOSE

extension IDTokenVerifier {
    /// Explains why a string is not a token.
    ///
    /// - Parameter rejection: the error that ``IDTokenVerifier/read(_:)`` threw.
    public func explain(malformed text: ArraySlice<UInt8>, _ rejection: Rejection) -> Explanation {
        Explanation(
            [MalformedToken(text).check(rejection)], notReached: "the token can't be read", validSummary: "")
    }

    /// Explains why a token matches no configured provider.
    ///
    /// - Parameters:
    ///   - policies: the policies of all configured providers.
    ///   - now: the current time.
    public func explain(
        _ token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        var check = Check.providerUnknown(token, policies)
        let cause = Explanation.Cause(check)
        if token.unverifiedIssuer != nil { check.explanation += Explanation.unverifiedNote }
        return Explanation(
            [.wellFormed, check], notReached: "there is no provider whose rules apply", validSummary: "",
            likelyCause: cause,
            contents: contents(of: token, now: now))
    }

    /// Explains why a token is not verified as an ID Token: the provider that its issuer or the request names verifies
    /// access tokens.
    public func explain(_ token: UnverifiedToken, ofAccessTokens entry: AccessTokenEntry, now: UnixTime) -> Explanation
    {
        Explanation(
            [.wellFormed, .verifiesAccessTokens(token, entry)], notReached: "the provider verifies no ID Tokens",
            validSummary: "", contents: contents(of: token, now: now))
    }

    /// Explains the result of ``IDTokenVerifier/verify(_:with:algorithms:under:expecting:now:)``. Runs the same checks,
    /// and continues after failures.
    ///
    /// - Parameters:
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - isNamed: whether the request named the provider; otherwise, the token's issuer did.
    ///   - usesNoncesOnce: whether the caller refuses a nonce that was used before. This is not checked here.
    ///   - others: the policies of all other configured providers.
    ///   - accessTokens: the provider that verifies access tokens from the token's issuer; `nil` if there is none.
    ///   - parameters: the parameters of this sign-in.
    ///   - now: the current time.
    public func explain(
        _ token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy, isNamed: Bool = true,
        usesNoncesOnce: Bool = false, others: [ProviderPolicy] = [], accessTokens: AccessTokenEntry? = nil,
        expecting parameters: VerificationParameters, now: UnixTime
    ) -> Explanation {
        let recorder = CheckRecorder()
        let results: CheckResults
        do throws(Rejection) {
            results = try runChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy,
                expecting: parameters, now: now, watchedBy: recorder)
        } catch {
            // The recorder never ends a verification.
            return explain(malformed: [], error)
        }
        let descriptions = CheckDescriptions(
            token: token, kind: .idToken, policy: policy, parameters: parameters, usesNoncesOnce: usesNoncesOnce,
            keys: keys, others: others, accessTokens: accessTokens, now: now, checker: jwsVerifier.checker,
            jws: results.jws, nonceMatch: results.nonceMatch)
        return Explanation(recorder.outcomes, descriptions, isNamed: isNamed, contents: contents(of: token, now: now))
    }

    /// The contents of a token, with personal values masked.
    func contents(of token: UnverifiedToken, now: UnixTime) -> TokenContents {
        TokenContents(token, showingValues: false, now: now, jwsVerifier.checker)
    }
}
