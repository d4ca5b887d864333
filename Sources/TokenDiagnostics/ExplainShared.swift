public import IDToken
public import JOSE

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
        try withVerifier { verifier throws(Rejection) in
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
