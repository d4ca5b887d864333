internal import IDToken

/// A verification told as a list of checks: each that passed, failed, was not reached or not asked for, and why.
///
/// It is made from what an observer of the verifier's checks recorded: the first check that failed has the code that the
/// verifier gives. It proves nothing: only ``/IDToken/IDTokenVerifier/verify(_:with:algorithms:under:expecting:now:)`` makes a
/// ``/IDToken/VerifiedIDToken``.
public struct Explanation: Sendable, Equatable {
    /// Every check, in the order of the verifier.
    public let checks: [Check]
    /// One sentence: what is wrong with the token, if anything is; the likeliest cause, where several checks fail.
    public let summary: String
    /// `nil` where no check failed.
    public let likelyCause: Cause?
    /// What is in the token; `nil` where it can't be read.
    public let contents: TokenContents?

    /// - Parameters:
    ///   - checks: those that were made; the others were not reached.
    ///   - reason: why they were not.
    ///   - likelyCause: `nil`: the first check that failed.
    init(
        _ checks: [Check], notReached reason: String, validSummary: String, likelyCause: Cause? = nil,
        contents: TokenContents? = nil
    ) {
        self.contents = contents
        self.checks = CheckName.allCases.map { name in
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

    /// The first check that failed, which is what a verification is refused for.
    public var refusal: Check.Refusal? { checks.lazy.compactMap(\.refusal).first }

    /// Whether a verification would find the token good: nothing failed, and so nothing went unreached.
    public var isValid: Bool { refusal == nil && !checks.contains { $0.state == .notReached } }
}
