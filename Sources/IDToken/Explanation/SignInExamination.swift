package import JOSE
internal import OpenSSL

/// What is known of one sign-in when its token is explained. Each of its methods makes one check, by the verifier's own rule.
struct SignInExamination {
    let token: UnverifiedToken
    let policy: ProviderPolicy
    let expectations: SignInExpectations
    let keys: ExplainedKeys?
    /// Of all other providers that are configured.
    let others: [ProviderPolicy]
    let now: UnixTime
    let verifier: JWSVerifier

    var claims: Claims { token.claims }
    var checker: SignatureChecker { verifier.checker }

    /// Runs a rule.
    func result<Success>(
        of rule: () throws(Rejection) -> Success
    ) -> Result<Success, Rejection> {
        do throws(Rejection) {
            return .success(try rule())
        } catch {
            return .failure(error)
        }
    }
}

/// A provider's keys, and what is known of where they come from.
package struct ExplainedKeys: Sendable {
    package var set: JWKSet
    /// Those that the provider may sign with; the policy's own win over them.
    package var algorithms: SignatureAlgorithms
    /// By this machine's clock.
    package var fetchedAt: UnixTime?
    package var nextFetchAt: UnixTime?
    /// Seconds by which the provider's clock was ahead of this machine's at least when the keys were fetched; `nil` where it
    /// told no time.
    package var clockOffsetSeconds: Int64?
    /// Why the last fetch of them failed; `nil` where it did not.
    package var fetchFailure: String?
    /// Whether the token's key was looked for and could not be fetched.
    package var lacksKey: Bool

    package init(
        set: JWKSet, algorithms: SignatureAlgorithms = .all, fetchedAt: UnixTime? = nil,
        nextFetchAt: UnixTime? = nil, clockOffsetSeconds: Int64? = nil, fetchFailure: String? = nil,
        lacksKey: Bool = false
    ) {
        self.set = set
        self.algorithms = algorithms
        self.fetchedAt = fetchedAt
        self.nextFetchAt = nextFetchAt
        self.clockOffsetSeconds = clockOffsetSeconds
        self.fetchFailure = fetchFailure
        self.lacksKey = lacksKey
    }
}
