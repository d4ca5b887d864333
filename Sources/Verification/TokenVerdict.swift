package import JSON

/// The result of verifying a token that is not an ID Token.
package enum TokenVerdict<Answer: TokenAnswer>: Sendable {
    case verified(Answer, provider: Int)
    case refused(Problem, provider: Int?)

    /// The answer to a verified token.
    package var answer: Answer? { if case .verified(let answer, _) = self { answer } else { nil } }

    /// The number of the provider; `nil` if there is none.
    package var provider: Int? {
        switch self {
        case .verified(_, let provider): provider
        case .refused(_, let provider): provider
        }
    }

    /// The problem's code, or `ok`.
    package var code: String {
        switch self {
        case .verified: "ok"
        case .refused(let problem, _): problem.code
        }
    }
}

/// The answer to a verified token that is not an ID Token.
package protocol TokenAnswer: Sendable {
    /// Writes the answer as a JSON object, every member present.
    func write(to json: inout JSONWriter)
}
