public import IDToken
private import JOSE

extension IDTokenVerifier {
    /// Explains why a text is no token.
    ///
    /// - Parameter rejection: what ``IDTokenVerifier/read(_:)`` threw.
    public func explain(malformed text: ArraySlice<UInt8>, _ rejection: Rejection) -> Explanation {
        Explanation(
            [MalformedToken(text).check(rejection)], notReached: "the token can't be read", validSummary: "")
    }

    /// Explains why nobody is known to have issued a token.
    ///
    /// - Parameters:
    ///   - policies: of all providers that are configured.
    ///   - now: the time by which to tell the token's.
    public func explain(
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

    /// Explains what ``IDTokenVerifier/verify(_:with:algorithms:under:expecting:now:)`` says of a token, and what it would say
    /// next: the same checks are made, and each of them.
    ///
    /// - Parameters:
    ///   - keys: the provider's; `nil` where there are none.
    ///   - isNamed: whether the request named the provider, instead of the token's issuer.
    ///   - others: the policies of all other providers that are configured.
    ///   - parameters: what the relying party knows of this sign-in.
    ///   - now: the time by which to judge the token's.
    public func explain(
        _ token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy, isNamed: Bool = true,
        others: [ProviderPolicy] = [], expecting parameters: VerificationParameters, now: UnixTime
    ) -> Explanation {
        let recorder = CheckRecorder()
        let results: CheckResults
        do throws(Rejection) {
            results = try runChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy,
                expecting: parameters, now: now, watchedBy: recorder)
        } catch {
            // The recorder ends no verification.
            return explain(malformed: [], error)
        }
        let descriptions = CheckDescriptions(
            token: token, policy: policy, parameters: parameters, keys: keys, others: others, now: now,
            checker: jwsVerifier.checker, results: results)
        var checks = [.wellFormed, .provider(policy, isNamed: isNamed)] + descriptions.checks(recorder.outcomes)
        // By what the checks themselves say.
        let (cause, validSummary) = (descriptions.likelyCause(of: checks), descriptions.validSummary(checks))
        if results.jws == nil {
            // What comes after the signature is about claims.
            let signature = checks.firstIndex { $0.name == .signature } ?? 0
            for index in checks.indices.dropFirst(signature + 1) where checks[index].isMade {
                checks[index].explanation += Explanation.unverifiedNote
            }
        }
        return Explanation(
            checks, notReached: "", validSummary: validSummary, likelyCause: cause,
            contents: contents(of: token, now: now))
    }

    /// What is in a token, without what may be somebody's.
    private func contents(of token: UnverifiedToken, now: UnixTime) -> TokenContents {
        TokenContents(token, showingValues: false, now: now, jwsVerifier.checker)
    }
}

extension Explanation {
    /// What is added to the explanation of each check of a claim where the signature does not hold, or wasn't checked.
    package static let unverifiedNote = " Anyone could have written this: the signature is not verified."
}

extension Check {
    fileprivate var isMade: Bool {
        switch state {
        case .passed, .failed: true
        case .notReached, .notAsked: false
        }
    }
}
