public import IDToken
public import JOSE

extension IDTokenVerifier {
    /// Explains why a string is not a token.
    ///
    /// - Parameter rejection: the error that ``IDTokenVerifier/read(_:)`` threw.
    public func explain(malformed text: ArraySlice<UInt8>, _ rejection: Rejection) -> Explanation {
        explain(malformed: text, as: .idToken, rejection)
    }

    /// Explains why a string is not a token of this kind.
    ///
    /// - Parameter rejection: the error with which it was refused.
    package func explain(
        malformed text: ArraySlice<UInt8>, as kind: ExplainedKind, _ rejection: Rejection
    ) -> Explanation {
        Explanation(
            [MalformedToken(text, as: kind).check(rejection)], of: kind.checks, notReached: "the token can't be read")
    }

    /// Explains why a token matches no configured provider.
    ///
    /// - Parameters:
    ///   - policies: the policies of all configured providers.
    ///   - now: the current time.
    public func explain(
        _ token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        explain(token, as: .idToken, withoutProvider: .providerUnknown(token, policies), now: now)
    }

    /// - Parameter check: says why no provider's rules apply.
    private func explain(
        _ token: UnverifiedToken, as kind: ExplainedKind, withoutProvider check: Check, now: UnixTime
    ) -> Explanation {
        var noted = check
        if token.unverifiedIssuer != nil { noted.explanation += Explanation.unverifiedNote }
        return Explanation(
            [.wellFormed, noted], of: kind.checks, notReached: "there is no provider whose rules apply",
            likelyCause: Explanation.Cause(check), contents: contents(of: token, now: now))
    }

    /// Explains why a token is not verified as an ID Token: the provider that its issuer or the request names verifies
    /// access tokens.
    public func explain(_ token: UnverifiedToken, ofAccessTokens entry: AccessTokenEntry, now: UnixTime) -> Explanation
    {
        Explanation(
            [.wellFormed, .verifiesAccessTokens(token, entry)], of: CheckName.ofIDTokens,
            notReached: "the provider verifies no ID Tokens", contents: contents(of: token, now: now))
    }

    /// Explains the result of ``IDTokenVerifier/verify(_:with:algorithms:under:expecting:now:)``. Runs the same checks,
    /// and continues after failures.
    ///
    /// - Parameters:
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - isNamed: whether the request named the provider; otherwise, the token's issuer did.
    ///   - usesNoncesOnce: whether the caller refuses a nonce that was used before. This is not checked here.
    ///   - fetchesLazily: whether the provider's keys are fetched only for tokens that could pass.
    ///   - others: the policies of all other configured providers.
    ///   - accessTokens: the provider that verifies access tokens from the token's issuer; `nil` if there is none.
    ///   - parameters: the parameters of this sign-in.
    ///   - now: the current time.
    public func explain(
        _ token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy, isNamed: Bool = true,
        usesNoncesOnce: Bool = false, fetchesLazily: Bool = false, others: [ProviderPolicy] = [],
        accessTokens: AccessTokenEntry? = nil, expecting parameters: VerificationParameters, now: UnixTime
    ) -> Explanation {
        let descriptions = CheckDescriptions(
            token: token, kind: .idToken, policy: policy, parameters: parameters, usesNoncesOnce: usesNoncesOnce,
            fetchesLazily: fetchesLazily, keys: keys, others: others, accessTokens: accessTokens, now: now,
            checker: jwsVerifier.checker)
        return explain(descriptions, isNamed: isNamed) { recorder throws(Rejection) in
            try runChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy,
                expecting: parameters, now: now, watchedBy: recorder)
        }
    }

    /// - Parameters:
    ///   - descriptions: of the checks that are to be made.
    ///   - run: makes them.
    private func explain<Token>(
        _ descriptions: consuming CheckDescriptions, isNamed: Bool,
        _ run: (CheckRecorder) throws(Rejection) -> CheckResults<Token>
    ) -> Explanation {
        let recorder = CheckRecorder()
        do throws(Rejection) {
            let results = try run(recorder)
            (descriptions.jws, descriptions.nonceMatch) = (results.jws, results.nonceMatch)
        } catch {
            // The recorder never ends a verification.
            return explain(malformed: [], as: descriptions.kind.plain, error)
        }
        let contents = contents(of: descriptions.token, now: descriptions.now)
        return Explanation(recorder.outcomes, descriptions, isNamed: isNamed, contents: contents)
    }

    /// The contents of a token, with personal values masked.
    func contents(of token: UnverifiedToken, now: UnixTime) -> TokenContents {
        TokenContents(token, showingValues: false, now: now, jwsVerifier.checker)
    }

    /// Explains why a token matches no provider with `tokens: access`.
    ///
    /// - Parameters:
    ///   - policies: the policies of all providers with `tokens: access`.
    ///   - providerOfIDTokens: the ID of the provider that verifies ID Tokens of this issuer; `nil` if there is none.
    ///   - isForResource: whether the providers are those of a resource, which the token is then not for.
    package func explain(
        accessToken token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], providerOfIDTokens: String?,
        isForResource: Bool, now: UnixTime
    ) -> Explanation {
        let refusal: Check.Refusal = isForResource ? .rejected(.issuerMismatch) : .providerUnknown
        let check =
            providerOfIDTokens.map { Check.verifiesIDTokens(token, $0, refusal) }
            ?? .providerUnknown(token, policies, isAccessToken: true, refusal)
        return explain(token, as: .accessToken, withoutProvider: check, now: now)
    }

    /// Explains the result of verifying an access token. Runs the same checks, and continues after failures.
    ///
    /// - Parameter others: the policies of all other providers with `tokens: access`.
    package func explain(
        accessToken token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, isNamed: Bool, fetchesLazily: Bool = false, others: [ProviderPolicy],
        expecting parameters: AccessTokenParameters, now: UnixTime
    ) -> Explanation {
        let described = VerificationParameters(
            audience: parameters.audience, authenticatedAfter: parameters.authenticatedAfter,
            expectedSubject: parameters.expectedSubject)
        let descriptions = CheckDescriptions(
            token: token, kind: .accessToken(dialect, scopes: parameters.scopes), policy: policy,
            parameters: described, fetchesLazily: fetchesLazily, keys: keys, others: others, now: now,
            checker: jwsVerifier.checker)
        return explain(descriptions, isNamed: isNamed) { recorder throws(Rejection) in
            try jwsVerifier.runAccessTokenChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy, dialect,
                expecting: parameters, now: now, watchedBy: recorder)
        }
    }

    /// Explains why a notification matches no provider with `notifications`.
    ///
    /// - Parameter policies: the policies of all providers with `notifications`.
    package func explain(
        notification token: UnverifiedToken, ofNoneOf policies: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        explain(token, as: .notification, withoutProvider: .providerUnknown(token, policies), now: now)
    }

    /// Explains the result of verifying a notification. Runs the same checks, and continues after failures.
    ///
    /// - Parameter others: the policies of all other providers with `notifications`.
    package func explain(
        notification token: UnverifiedToken, with keys: ExplainedKeys?, under policy: ProviderPolicy,
        _ rules: NotificationRules, isNamed: Bool, fetchesLazily: Bool = false, others: [ProviderPolicy], now: UnixTime
    ) -> Explanation {
        let descriptions = CheckDescriptions(
            token: token, kind: .notification(rules), policy: policy, fetchesLazily: fetchesLazily, keys: keys,
            others: others, now: now, checker: jwsVerifier.checker)
        return explain(descriptions, isNamed: isNamed) { recorder throws(Rejection) in
            try jwsVerifier.runNotificationChecks(
                on: token, with: keys?.set ?? .empty, algorithms: keys?.algorithms ?? .all, under: policy, rules,
                now: now, watchedBy: recorder)
        }
    }

    /// Explains the result of verifying an opaque token. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - isNamed: whether the request named the provider.
    ///   - detail: why the token is refused, and what to do, separated by a semicolon.
    package func explain(
        opaqueToken text: ArraySlice<UInt8>, _ answer: ExplainedAnswer, under policy: ProviderPolicy,
        _ dialect: AccessTokenDialect, isNamed: Bool, expecting parameters: AccessTokenParameters, now: UnixTime,
        detail: (Rejection) -> String
    ) -> Explanation {
        let form = Check.passed(.tokenForm, "The token is a bearer token.", found: "\(text.count) bytes")
        let provider = Check.provider(policy, isNamed: isNamed)
        let introspected: IntrospectedClaims
        switch answer {
        case .active(let claims): introspected = claims
        case .none(let code, let diagnosis):
            return Explanation(
                [form, provider, .failed(.active, .denied(code: code), diagnosis, expected: "active: true")],
                of: CheckName.ofOpaqueTokens, notReached: "the provider does not say that the token is active")
        }
        let recorder = CheckRecorder()
        // The recorder never ends a verification.
        _ = try? jwsVerifier.runOpaqueTokenChecks(
            on: text, saidToHave: introspected, under: policy, dialect, expecting: parameters, now: now,
            watchedBy: recorder)
        let checks = recorder.outcomes.map { name, outcome -> Check in
            let found = name.claim.map { introspected.claims.texts($0) }.flatMap {
                $0.isEmpty ? nil : Redaction.list($0)
            }
            return switch outcome {
            case .passed: .passed(name, "The check passed.", found: found)
            case .failed(let rejection): .failed(name, rejection, Diagnosis(sentence: detail(rejection)), found: found)
            case .notReached: .notReached(name, "Not reached: it depends on an earlier check that failed.")
            case .notAsked: .notAsked(name, "Neither the settings, the request nor the provider's answer need it.")
            }
        }
        let active = Check.passed(.active, "The provider says that the token is active.", expected: "active: true")
        return Explanation(
            [form, provider, active] + checks, of: CheckName.ofOpaqueTokens,
            validSummary:
                "The token is valid: the provider \(policy.id) says that it is active, and it is for this API.",
            contents: TokenContents(introspected: introspected.claims, now: now, jwsVerifier.checker))
    }
}

extension Check {
    /// The token's issuer, or the request, names a provider that verifies only ID Tokens.
    fileprivate static func verifiesIDTokens(_ token: UnverifiedToken, _ id: String, _ refusal: Refusal) -> Check {
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
        return .failed(.provider, refusal, diagnosis, found: id)
    }
}

/// What the provider of an opaque token said of it.
package enum ExplainedAnswer {
    case active(IntrospectedClaims)
    /// The token is not active, or there is no answer.
    ///
    /// - Parameter code: of the problem.
    case none(code: String, Diagnosis)
}

extension Diagnosis {
    /// - Parameter sentence: what was found, a semicolon, and what to do.
    package init(sentence: String) {
        let parts = sentence.split(separator: "; ", maxSplits: 1)
        guard parts.count == 2, let first = parts[1].first else {
            self.init(sentence)
            return
        }
        self.init(parts[0] + ".", fix: first.uppercased() + parts[1].dropFirst())
    }
}

extension CheckName {
    /// A member that is not personal, if the check is about one.
    fileprivate var claim: ClaimName? {
        switch self {
        case .issuer: .issuer
        case .audience: .audience
        case .client: .clientID
        case .scopes: .scope
        default: nil
        }
    }
}

extension Explanation {
    /// Explains why no provider was asked about a token.
    ///
    /// - Parameters:
    ///   - name: the check that failed.
    ///   - code: of the problem.
    package init(opaqueTokenRefusedAt name: CheckName, code: String, _ diagnosis: Diagnosis) {
        let form: [Check] = name == .tokenForm ? [] : [.passed(.tokenForm, "The token is a bearer token.")]
        self.init(
            form + [.failed(name, .denied(code: code), diagnosis)], of: CheckName.ofOpaqueTokens,
            notReached: "no provider was asked")
    }
}

extension ProviderVerifier {
    /// Explains the result of verifying a token. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - parameters: the parameters of this sign-in.
    ///   - now: the current time.
    /// - Throws: `Rejection.cryptographyUnavailable` when out of memory.
    public func explain(
        _ token: String, with keys: JWKSet?, expecting parameters: VerificationParameters = VerificationParameters(),
        now: UnixTime
    ) throws(Rejection) -> Explanation {
        try explain(token, as: .idToken) { token, verifier in
            verifier.explain(
                token, with: keys.map { ExplainedKeys(set: $0) }, under: policy, expecting: parameters, now: now)
        }
    }
}

extension AccessTokenVerifier {
    /// Explains the result of verifying a token. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - parameters: the parameters of this request.
    ///   - now: the current time.
    /// - Throws: `Rejection.cryptographyUnavailable` when out of memory.
    public func explain(
        _ token: String, with keys: JWKSet?, expecting parameters: AccessTokenParameters = AccessTokenParameters(),
        now: UnixTime
    ) throws(Rejection) -> Explanation {
        try explain(token, as: .accessToken) { token, verifier in
            verifier.explain(
                accessToken: token, with: keys.map { ExplainedKeys(set: $0) }, under: policy.provider, policy.dialect,
                isNamed: true, others: [], expecting: parameters, now: now)
        }
    }
}

extension NotificationVerifier {
    /// Explains the result of verifying a notification. Runs the same checks, and continues after failures.
    ///
    /// - Parameters:
    ///   - token: the token as it was received.
    ///   - keys: the provider's keys; `nil` if there are none.
    ///   - now: the current time.
    /// - Throws: `Rejection.cryptographyUnavailable` when out of memory.
    public func explain(_ token: String, with keys: JWKSet?, now: UnixTime) throws(Rejection) -> Explanation {
        try explain(token, as: .notification) { token, verifier in
            verifier.explain(
                notification: token, with: keys.map { ExplainedKeys(set: $0) }, under: policy, rules, isNamed: true,
                others: [], now: now)
        }
    }
}

extension SharedVerifier {
    /// - Parameter explain: explains the result of a token that can be read.
    fileprivate func explain(
        _ token: String, as kind: ExplainedKind, _ explain: (UnverifiedToken, IDTokenVerifier) -> Explanation
    ) throws(Rejection) -> Explanation {
        try verifiers.withVerifier { verifier throws(Rejection) in
            let text = Array(token.utf8)[...]
            let token: UnverifiedToken
            do throws(Rejection) {
                token = try read(text, by: verifier)
            } catch {
                return verifier.explain(malformed: text, as: kind, error)
            }
            return explain(token, verifier)
        }
    }
}
