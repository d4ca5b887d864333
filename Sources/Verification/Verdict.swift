package import Host
package import IDToken

/// The result of one request.
package enum Verdict {
    case verified(VerifyAnswer, provider: Int)
    case refused(Problem, provider: Int?)

    /// The number of the provider; `nil` if there is none.
    package var provider: Int? {
        switch self {
        case .verified(_, let provider): provider
        case .refused(_, let provider): provider
        }
    }

    /// Why it was rejected; `nil` if it was not.
    package var problem: Problem? { if case .refused(let problem, _) = self { problem } else { nil } }
}

/// The time of a verification, on both clocks.
package struct VerificationTime {
    /// For the age of keys.
    package let monotonic: MonotonicTime
    /// For the token's times.
    package let wall: UnixTime

    package static func now() -> VerificationTime {
        VerificationTime(
            monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}
