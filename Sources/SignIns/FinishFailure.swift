package import Grants
package import Verification

/// Why a request that uses something up has failed, and whether it is used up.
package struct FinishFailure: Error, Sendable {
    package let problem: Problem
    /// Whether the sign-in, code or token is used up, or may be.
    package let isSpent: Bool
    /// Whether a grant came, which nobody gets.
    package var dropsGrant = false

    package init(_ problem: Problem, isSpent: Bool, dropsGrant: Bool = false) {
        self.problem = problem
        self.isSpent = isSpent
        self.dropsGrant = dropsGrant
    }

    /// The failure of a request of which nothing was sent to the provider.
    package static func before(_ problem: Problem) -> FinishFailure {
        FinishFailure(problem, isSpent: problem.isSpent)
    }

    /// The failure of the exchange of a code, which can be exchanged once.
    package static func ofCode(_ failure: CallFailure) -> FinishFailure {
        FinishFailure(Problem(failure), isSpent: failure.isSent)
    }
}

extension CallFailure {
    package var isSent: Bool { if case .notSent = self { false } else { true } }
}
