package import JSON

/// The result of verifying a token.
package enum Verdict<Answer> {
    /// - Parameter provider: the provider's number.
    case verified(Answer, provider: Int)
    case refused(Problem, provider: Int?)

    /// The answer to a verified token.
    package var answer: Answer? { if case .verified(let answer, _) = self { answer } else { nil } }

    /// Why it was rejected; `nil` if it was not.
    package var problem: Problem? { if case .refused(let problem, _) = self { problem } else { nil } }

    /// The number of the provider; `nil` if there is none.
    package var provider: Int? {
        switch self {
        case .verified(_, let provider): provider
        case .refused(_, let provider): provider
        }
    }

    /// The problem's code, or `ok`.
    package var code: String { problem?.code ?? "ok" }
}

extension Verdict: Sendable where Answer: Sendable {}

/// The answer to a verified token.
package protocol TokenAnswer: Sendable {
    /// Writes the answer as a JSON object that always has every member.
    func write(to json: inout JSONWriter)
}
