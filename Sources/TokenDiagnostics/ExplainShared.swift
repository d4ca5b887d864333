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
        try withVerifier { verifier throws(Rejection) in
            let text = Array(token.utf8)[...]
            let read: UnverifiedToken
            do throws(Rejection) {
                read = try verifier.read(text)
            } catch {
                return verifier.explain(malformed: text, error)
            }
            return verifier.explain(
                read, with: keys.map { ExplainedKeys(set: $0) }, under: policy, expecting: parameters, now: now)
        }
    }
}
