internal import Host
internal import IDToken

/// What became of one request.
package enum Verdict {
    case verified(VerifyAnswer, provider: Int)
    case refused(Problem, provider: Int?)

    /// Why it was refused; `nil` where it was not.
    package var problem: Problem? { if case .refused(let problem, _) = self { problem } else { nil } }
}

/// The time of a verification, by both clocks.
package struct VerificationTime {
    /// What keys grow old by.
    let monotonic: MonotonicTime
    /// What tokens speak of.
    let wall: UnixTime

    package static func now() -> VerificationTime {
        VerificationTime(
            monotonic: SystemClocks.monotonic(), wall: UnixTime(seconds: SystemClocks.unixSeconds()))
    }
}
