public import IDToken

/// One of the checks that a verification is made of, and what became of it, in words for people.
///
/// ``expected`` and ``found`` hold no secret: of a nonce, a code, an access token, a subject and an address no more than
/// ``Redaction/fingerprint(_:_:)``.
public struct Check: Sendable, Equatable {
    /// The same names each time, in the order of ``IDToken/CheckName``.
    public let name: Name
    /// What became of it.
    public let state: State
    /// What the settings or the request ask for.
    public let expected: String?
    /// What the token has.
    public let found: String?
    /// One sentence: what was looked at, and how it went.
    public internal(set) var explanation: String
    /// What to change, and where; `nil` where there is nothing to.
    public let fix: String?

    public typealias Name = CheckName

    /// What became of a check.
    public enum State: Sendable, Equatable {
        /// The token is as it should be.
        case passed
        /// A verification would be refused for it, if not for an earlier one.
        case failed(Refusal)
        /// It needs something that failed before.
        case notReached
        /// Neither the settings nor the request ask for it.
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

    /// Why a verification of the token would be refused.
    public enum Refusal: Sendable, Equatable {
        /// The verifier rejects the token.
        case rejected(Rejection)
        /// No provider has the token's issuer.
        case providerUnknown
        /// There are no keys to verify with.
        case keysUnavailable

        /// The contract's name for it.
        public var code: String {
            switch self {
            case .rejected(let rejection): rejection.code.rawValue
            case .providerUnknown: "provider_unknown"
            case .keysUnavailable: "keys_unavailable"
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

    static func passed(
        _ name: Name, _ explanation: String, expected: String? = nil, found: String? = nil
    ) -> Check { Check(name, .passed, explanation, expected: expected, found: found) }

    static func failed(
        _ name: Name, _ refusal: Refusal, _ diagnosis: Diagnosis, expected: String? = nil, found: String? = nil
    ) -> Check {
        Check(name, .failed(refusal), diagnosis.explanation, expected: expected, found: found, fix: diagnosis.fix)
    }

    static func failed(
        _ name: Name, _ rejection: Rejection, _ diagnosis: Diagnosis, expected: String? = nil, found: String? = nil
    ) -> Check { failed(name, .rejected(rejection), diagnosis, expected: expected, found: found) }

    /// A check that was made.
    ///
    /// - Parameters:
    ///   - rejection: `nil` where it passed, for the reason `passed`.
    ///   - diagnosis: why it failed, unless the rejection alone says so.
    static func made(
        _ name: Name, _ rejection: Rejection?, passed: @autoclosure () -> String,
        failed diagnosis: @autoclosure () -> Diagnosis, expected: String? = nil, found: String? = nil
    ) -> Check {
        guard let rejection else { return .passed(name, passed(), expected: expected, found: found) }
        return .failed(
            name, rejection, Diagnosis(rejection, otherwise: diagnosis()), expected: expected, found: found)
    }

    static func notReached(_ name: Name, _ explanation: String) -> Check { Check(name, .notReached, explanation) }

    static func notAsked(_ name: Name, _ explanation: String, found: String? = nil) -> Check {
        Check(name, .notAsked, explanation, found: found)
    }

    /// Why it failed; `nil` where it did not.
    public var refusal: Refusal? { if case .failed(let refusal) = state { refusal } else { nil } }
}

/// Why a check failed, in one sentence, and what to do about it.
struct Diagnosis {
    let explanation: String
    let fix: String?

    init(_ explanation: String, fix: String? = nil) {
        self.explanation = explanation
        self.fix = fix
    }

    /// What is wrong with a claim that is missing, or of a type or form that it may not have.
    ///
    /// - Parameter otherwise: for every other rejection.
    init(_ rejection: Rejection, otherwise: @autoclosure () -> Diagnosis) {
        switch rejection {
        case .claimMissing(let claim):
            self.init(
                "The token has no \(claim.string), which it must have.",
                fix: "See that it is an ID Token, and that the provider is set up to put \(claim.string) in it.")
        case .claimInvalid(let claim):
            self.init(
                "The token's \(claim.string) has a type or form that is invalid in an ID Token.",
                fix:
                    "See that it is an ID Token; if it is, the provider breaks the specification; report it to the provider."
            )
        case .cryptographyUnavailable:
            self.init("The check itself failed, through no fault of the token's.", fix: "Try again.")
        default: self = otherwise()
        }
    }
}
