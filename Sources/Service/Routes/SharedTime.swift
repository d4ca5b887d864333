internal import Host

/// The time that all steps of a request share: waiting for keys, the claim, and the calls to a provider.
///
/// With the store's answers it is 10 s, less than the 12 s that clients wait: a backend must learn whether a code was
/// used up.
struct SharedTime: Sendable {
    /// Half a second is left for the claim or its release, which may be the last step (`sign_ins.store.timeout` is 250 ms
    /// by default).
    static let ofSteps = Interval(milliseconds: 9500)

    private let end: MonotonicTime

    init(from begunAt: MonotonicTime) { end = begunAt + Self.ofSteps }

    /// The deadline of a step that begins now and has a timeout of its own.
    func deadline(of timeout: Interval, from now: MonotonicTime) -> MonotonicTime { min(now + timeout, end) }
}
