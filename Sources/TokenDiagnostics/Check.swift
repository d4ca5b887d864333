public import IDToken

/// One check of a verification and its result, described for people.
///
/// ``expected`` and ``found`` contain no secrets. A nonce, a code, an access token, a subject and an address are shown
/// only as a fingerprint.
public struct Check: Sendable, Equatable {
    /// An explanation has one check for each name that applies to its kind of token, in the verifier's order.
    public let name: Name
    public let state: State
    /// What the settings or the request require.
    public let expected: String?
    /// What the token contains.
    public let found: String?
    /// One sentence: what was checked, and the result.
    public internal(set) var explanation: String
    /// What to change and where; `nil` if there is nothing to change.
    public let fix: String?

    /// Which check it is.
    public typealias Name = CheckName

    /// The result of a check.
    public enum State: Sendable, Equatable {
        case passed
        /// A verification would fail here, unless an earlier check failed.
        case failed(Refusal)
        /// The check needs the result of a check that failed.
        case notReached
        /// Neither the settings nor the request enable the check.
        case notAsked

        /// The state in HTTP answers.
        public var name: String {
            switch self {
            case .passed: "passed"
            case .failed: "failed"
            case .notReached: "not_reached"
            case .notAsked: "not_asked"
            }
        }
    }

    /// Why a verification of the token would fail.
    public enum Refusal: Sendable, Equatable {
        /// The verifier rejects the token.
        case rejected(Rejection)
        /// No configured provider has the token's issuer.
        case providerUnknown
        /// There are no keys to verify with.
        case keysUnavailable
        /// The token is valid, but a gateway's policy requires more.
        ///
        /// - Parameter code: the reason in the log and in metrics.
        case denied(code: String)
        /// The token is encrypted and was not opened, or must be encrypted and is not.
        case notOpened(code: String)

        /// The code in the contract.
        public var code: String {
            switch self {
            case .rejected(let rejection): rejection.code.rawValue
            case .providerUnknown: "provider_unknown"
            case .keysUnavailable: "keys_unavailable"
            case .denied(let code), .notOpened(let code): code
            }
        }
    }

    private init(
        _ name: Name, _ state: State, _ explanation: String, expected: String? = nil, found: String? = nil,
        fix: String? = nil
    ) {
        self.name = name
        self.state = state
        self.expected = expected
        self.found = found
        self.explanation = explanation
        self.fix = fix
    }

    package static func passed(
        _ name: Name, _ explanation: String, expected: String? = nil, found: String? = nil
    ) -> Check { Check(name, .passed, explanation, expected: expected, found: found) }

    package static func failed(
        _ name: Name, _ refusal: Refusal, _ diagnosis: Diagnosis, expected: String? = nil, found: String? = nil
    ) -> Check {
        Check(name, .failed(refusal), diagnosis.explanation, expected: expected, found: found, fix: diagnosis.fix)
    }

    static func failed(
        _ name: Name, _ rejection: Rejection, _ diagnosis: Diagnosis, expected: String? = nil, found: String? = nil
    ) -> Check { failed(name, .rejected(rejection), diagnosis, expected: expected, found: found) }

    package static func notReached(_ name: Name, _ explanation: String) -> Check {
        Check(name, .notReached, explanation)
    }

    package static func notAsked(_ name: Name, _ explanation: String, found: String? = nil) -> Check {
        Check(name, .notAsked, explanation, found: found)
    }

    /// Why it failed; `nil` if it did not.
    public var refusal: Refusal? { if case .failed(let refusal) = state { refusal } else { nil } }
}

/// Why a check failed, in one sentence, and how to fix it.
package struct Diagnosis {
    let explanation: String
    let fix: String?

    package init(_ explanation: String, fix: String? = nil) {
        self.explanation = explanation
        self.fix = fix
    }

    /// For a token of which only a part arrived.
    static let truncationFix = """
        Send the token exactly as the provider issued it; look for a database column or header limit that truncates \
        it.
        """

    /// Diagnoses a rule for groups where the token does not list the user's groups.
    ///
    /// - Parameter setting: the setting with the rule, and whose it is.
    package static func groupsOverage(setting: String) -> Diagnosis {
        Diagnosis(
            "The user has too many groups for the provider to list in the token (group overage), so \(setting) can't be checked.",
            fix: "Have the provider send fewer groups, such as only those assigned to the application, or use roles.")
    }

    /// Diagnoses a claim that is missing, or has an invalid type or form.
    ///
    /// - Parameters:
    ///   - kind: the kind of token that was expected.
    ///   - otherwise: the diagnosis for all other rejections.
    init(_ rejection: Rejection, of kind: ExpectedKind = .idToken, otherwise: @autoclosure () -> Diagnosis) {
        switch rejection {
        case .claimMissing(let claim):
            self.init(
                "The token has no \(claim.string), which is required.",
                fix:
                    "Check that it is \(kind.article), and that the provider is configured to put \(claim.string) in it."
            )
        case .claimInvalid(let claim):
            self.init(
                "The token's \(claim.string) has a type or form that is invalid in \(kind.article).",
                fix:
                    "Check that it is \(kind.article). If so, the provider violates the specification: report it there."
            )
        case .cryptographyUnavailable:
            self.init("The check itself failed; the token may be valid.", fix: "Try again.")
        default: self = otherwise()
        }
    }
}

/// Records the result of each check, and continues after failures.
final class CheckRecorder: CheckObserver {
    enum Outcome {
        case passed
        case failed(Rejection)
        /// The check needs the result of a check that failed.
        case notReached
        /// Neither the settings nor the request enable the check.
        case notAsked
    }

    /// In the order of the checks.
    private(set) var outcomes: [(name: CheckName, outcome: Outcome)] = []

    func check<Input, Value>(
        _ name: CheckName, isEnabled: Bool, input: () -> Input?, rule: (Input) throws(Rejection) -> Value
    ) throws(Rejection) -> Value? {
        guard isEnabled else {
            outcomes.append((name, .notAsked))
            return nil
        }
        guard let input = input() else {
            outcomes.append((name, .notReached))
            return nil
        }
        do throws(Rejection) {
            let value = try rule(input)
            outcomes.append((name, .passed))
            return value
        } catch {
            outcomes.append((name, .failed(error)))
            return nil
        }
    }
}
