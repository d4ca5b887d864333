internal import IDToken

/// A verification as a list of checks: whether each passed, failed, was not reached or was not enabled, and why.
///
/// It is created from the results that an observer recorded. The first failed check has the same code as the verifier's
/// rejection. An explanation proves nothing: only
/// `IDTokenVerifier` creates a `VerifiedIDToken`.
public struct Explanation: Sendable, Equatable {
    /// All checks, in the verifier's order.
    public let checks: [Check]
    /// One sentence: what is wrong with the token, if anything. If several checks fail, the most likely cause.
    public let summary: String
    /// `nil` if no check failed.
    public let likelyCause: Cause?
    /// The token's contents; `nil` if they can't be read.
    public let contents: TokenContents?

    /// - Parameters:
    ///   - checks: the checks that ran. All others are marked as not reached.
    ///   - names: the names of all checks, in the verifier's order.
    ///   - reason: why they were not reached.
    ///   - likelyCause: `nil`: the first failed check.
    init(
        _ checks: [Check], of names: [CheckName], notReached reason: String = "", validSummary: String = "",
        likelyCause: Cause? = nil, contents: TokenContents? = nil
    ) {
        self.contents = contents
        self.checks = names.map { name in
            checks.first { $0.name == name } ?? .notReached(name, "Not reached: \(reason).")
        }
        let failed = checks.filter { $0.refusal != nil }
        let cause = likelyCause ?? failed.first.map { Cause($0) }
        self.likelyCause = cause
        switch (cause, failed.count - 1) {
        case (nil, _): summary = validSummary
        case (let cause?, 0): summary = cause.explanation
        case (let cause?, 1): summary = cause.explanation.dropLast() + ", and one more check fails."
        case (let cause?, let others): summary = cause.explanation.dropLast() + ", and \(others) more checks fail."
        }
    }

    /// - Parameters:
    ///   - outcomes: the outcomes of the verifier's checks.
    ///   - isNamed: whether the request named the provider; otherwise, the token's issuer did.
    init(
        _ outcomes: [(name: CheckName, outcome: CheckRecorder.Outcome)], _ descriptions: CheckDescriptions,
        isNamed: Bool, contents: TokenContents
    ) {
        var checks = [.wellFormed, .provider(descriptions.policy, isNamed: isNamed)] + descriptions.checks(outcomes)
        // Derived from the checks before notes are added.
        let (cause, validSummary) = (descriptions.likelyCause(of: checks), descriptions.validSummary(checks))
        if descriptions.jws == nil {
            // The checks after the signature are about claims.
            let signature = checks.firstIndex { $0.name == .signature } ?? 0
            for index in checks.indices.dropFirst(signature + 1)
            where ![.notReached, .notAsked].contains(checks[index].state) {
                checks[index].explanation += Self.unverifiedNote
            }
        }
        self.init(
            checks, of: descriptions.kind.plain.checks, validSummary: validSummary, likelyCause: cause,
            contents: contents)
    }

    /// This explanation, followed by the checks of a gateway's policy.
    ///
    /// - Parameter validSummary: one sentence for a request that the policy lets pass.
    package func adding(_ policyChecks: [Check], validSummary: String) -> Explanation {
        let all = checks + policyChecks
        return Explanation(
            all, of: all.map(\.name), validSummary: validSummary, likelyCause: likelyCause, contents: contents)
    }

    /// Why a verification would fail: the result of the first failed check.
    public var refusal: Check.Refusal? { checks.lazy.compactMap(\.refusal).first }

    /// Whether a verification would succeed: every enabled check was reached and passed.
    public var isValid: Bool { refusal == nil && !checks.contains { $0.state == .notReached } }

    /// Appended to the explanation of each check of a claim if the signature is wrong or was not checked.
    package static let unverifiedNote = " Anyone could have written this: the signature is not verified."
}

/// The kind of token that a verification expects.
enum ExpectedKind {
    case idToken
    /// - Parameter scopes: those that the token must grant.
    case accessToken(AccessTokenDialect, scopes: [String])
    case notification(NotificationRules)

    /// The same without the rules.
    var plain: ExplainedKind {
        switch self {
        case .idToken: .idToken
        case .accessToken: .accessToken
        case .notification: .notification
        }
    }

    var isAccessToken: Bool { plain == .accessToken }

    /// The kind with its article, for use in sentences.
    var article: String {
        switch self {
        case .idToken: "an ID Token"
        case .accessToken: "an access token"
        case .notification: "a notification"
        }
    }

    /// Checks the unverified claims of a token of this kind that must pass before keys are fetched for it.
    ///
    /// - Throws: ``Rejection``.
    func checkClaims(_ token: UnverifiedToken, under policy: ProviderPolicy, now: UnixTime) throws(Rejection) {
        switch self {
        case .idToken: try token.checkClaims(of: policy, now: now)
        case .accessToken(let dialect, _): try token.checkClaims(ofAccessTokenUnder: policy, dialect, now: now)
        case .notification(let rules): try token.checkClaims(ofNotificationUnder: policy, rules, now: now)
        }
    }
}

/// The kind of token that a text was sent as.
package enum ExplainedKind {
    case idToken, accessToken, notification

    /// The checks of a verification, in the verifier's order.
    var checks: [CheckName] {
        switch self {
        case .idToken: CheckName.ofIDTokens
        case .accessToken: CheckName.ofAccessTokens
        case .notification: CheckName.ofNotifications
        }
    }
}
