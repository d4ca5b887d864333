private import JOSE

extension IDTokenVerifier {
    /// Explains why a text is no token.
    ///
    /// - Parameter rejection: what ``read(_:)`` threw.
    package func explain(malformed text: ArraySlice<UInt8>, _ rejection: Rejection) -> Explanation {
        Explanation(
            [MalformedToken(text).check(rejection)], notReached: "the token can't be read", validSummary: "")
    }

    /// Explains why nobody is known to have issued a token.
    ///
    /// - Parameter policies: of all providers that are configured.
    package func explain(
        _ token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        var check = Check.providerUnknown(token, policies)
        let cause = Explanation.Cause(check)
        if token.unverifiedIssuer != nil { check.explanation += Explanation.unverifiedNote }
        return Explanation(
            [.wellFormed, check], notReached: "there is no provider to check it by", validSummary: "",
            likelyCause: cause,
            contents: contents(of: token, now: now))
    }

    /// What is in a token, without what may be somebody's.
    private func contents(of token: UnverifiedToken, now: UnixTime) -> TokenContents {
        TokenContents(token, showingValues: false, now: now, jwsVerifier.checker)
    }

    /// Explains what ``verify(_:with:algorithms:under:expecting:now:)`` says of a token, and what it would say next.
    ///
    /// - Parameters:
    ///   - isNamed: whether the request named the provider, instead of the token's issuer.
    ///   - keys: the provider's; `nil` where there are none.
    ///   - others: the policies of all other providers that are configured.
    package func explain(
        _ token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy, isNamed: Bool,
        others: [ProviderPolicy], expecting expectations: SignInExpectations, now: UnixTime
    ) -> Explanation {
        let signIn = SignInExamination(
            token: token, policy: policy, expectations: expectations, keys: keys, others: others, now: now,
            verifier: jwsVerifier)
        let signature = signIn.checkSignature()
        var claims = [
            signIn.issuer(), signIn.keyIssuer(signature.verified), signIn.audience(), signIn.authorizedParty(),
            signIn.expiry(), signIn.notBefore(), signIn.issuedAt(), signIn.tokenAge(), signIn.authTime(),
            signIn.subject(), signIn.events(), signIn.requiredClaims(), signIn.claimValues(), signIn.serviceAccount(),
            signIn.identity(), signIn.nonce(), signIn.tokenKind(), signIn.atHash(signature.verified),
            signIn.cHash(signature.verified),
        ]
        let before = [.wellFormed, .provider(policy, isNamed: isNamed)] + signature.checks
        // By what the checks themselves say.
        let (cause, validSummary) = (signIn.likelyCause(of: before + claims), signIn.validSummary(claims))
        if signature.verified == nil {
            for index in claims.indices where claims[index].isAboutToken {
                claims[index].explanation += Explanation.unverifiedNote
            }
        }
        return Explanation(
            before + claims, notReached: "", validSummary: validSummary, likelyCause: cause,
            contents: contents(of: token, now: now))
    }
}

extension Explanation {
    /// What is added to the explanation of each check of a claim where the signature does not hold, or wasn't checked.
    package static let unverifiedNote = " Anyone could have written this: the signature is not verified."
}

extension Check {
    fileprivate var isAboutToken: Bool {
        switch state {
        case .passed, .failed: true
        case .notReached, .notAsked: false
        }
    }
}
