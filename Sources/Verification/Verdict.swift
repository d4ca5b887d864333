package import Host
package import IDToken

/// What became of one request.
package enum Verdict {
    case verified(VerifyAnswer, provider: Int)
    case refused(Problem, provider: Int?)

    /// The number of the provider that it is about; `nil` where there is none.
    package var provider: Int? {
        switch self {
        case .verified(_, let provider): provider
        case .refused(_, let provider): provider
        }
    }

    /// Why it was refused; `nil` where it was not.
    package var problem: Problem? { if case .refused(let problem, _) = self { problem } else { nil } }
}

/// The time of a verification, by both clocks.
package struct VerificationTime {
    /// What keys grow old by.
    package let monotonic: MonotonicTime
    /// What tokens speak of.
    package let wall: UnixTime

    package static func now() -> VerificationTime {
        VerificationTime(
            monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}
