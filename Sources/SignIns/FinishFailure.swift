package import Grants
package import Verification

/// Why a request that uses up a sign-in, code or token failed, and whether it is used up.
package struct FinishFailure: Error, Sendable {
    package let problem: Problem
    /// Whether the sign-in, code or token is used up, or may be.
    package let isSpent: Bool
    /// Whether the provider returned a grant, which is dropped.
    package var dropsGrant = false

    package init(_ problem: Problem, isSpent: Bool, dropsGrant: Bool = false) {
        self.problem = problem
        self.isSpent = isSpent
        self.dropsGrant = dropsGrant
    }

    /// The failure of a request before anything was sent to the provider.
    package static func before(_ problem: Problem) -> FinishFailure {
        FinishFailure(problem, isSpent: problem.isSpent)
    }

    /// The failure of a code exchange. A code can be exchanged only once.
    package static func ofCode(_ failure: CallFailure) -> FinishFailure {
        FinishFailure(Problem(failure), isSpent: failure.isSent)
    }
}

extension CallFailure {
    package var isSent: Bool { if case .notSent = self { false } else { true } }
}
