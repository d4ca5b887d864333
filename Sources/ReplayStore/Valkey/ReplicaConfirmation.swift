internal import NIOCore

/// Checks with `WAIT` whether replicas have received the writes of one connection. Only one `WAIT` is in flight at a
/// time; it covers all commands sent before it. Confined to one event loop.
///
/// While a server waits, it answers nothing else on the connection. So the timeout of a `WAIT` is less than half of a
/// claim's: a claim made meanwhile then has enough time left for its own `WAIT`.
final class ReplicaConfirmation {
    private let replicas: Int
    private let limit: TimeAmount
    /// The completions that the current `WAIT` calls. Those in ``later`` need the next one.
    private var covered: [(Bool) -> Void] = []
    private var later: [(Bool) -> Void] = []
    /// The number of the `WAIT` in flight, and its deadline; `nil` if there is none.
    private var current: (number: Int, overdue: NIODeadline)?

    /// - Parameter timeout: the timeout of a claim.
    init(replicas: Int, timeout: TimeAmount) {
        self.replicas = replicas
        limit = max(.milliseconds(timeout.nanoseconds / 1_000_000 * 2 / 5), .milliseconds(1))
    }

    /// Whether the server is busy with a `WAIT` that is not overdue.
    func isUnderWay(at now: NIODeadline) -> Bool { current.map { now < $0.overdue } ?? false }

    /// - Parameters:
    ///   - number: the number of a command that succeeded.
    ///   - completion: called with whether enough replicas confirmed it in time.
    func confirm(_ number: Int, over replies: ReplyQueue, _ completion: @escaping (Bool) -> Void) {
        if let current {
            if number < current.number { covered.append(completion) } else { later.append(completion) }
        } else {
            begin([completion], over: replies)
        }
    }

    private func begin(_ completions: [(Bool) -> Void], over replies: ReplyQueue) {
        covered = completions
        // Set before sending, because a closed connection calls back at once.
        current = (.max, .now() + limit + limit)
        let number = replies.send(.wait(replicas: replicas, milliseconds: limit.nanoseconds / 1_000_000)) { result in
            let isEnough = if case .reply(.integer(let count)) = result { count >= self.replicas } else { false }
            let (covered, later) = (self.covered, self.later)
            (self.covered, self.later, self.current) = ([], [], nil)
            if !later.isEmpty { self.begin(later, over: replies) }
            for completion in covered { completion(isEnough) }
        }
        current?.number = number
    }
}

@available(*, unavailable) extension ReplicaConfirmation: Sendable {}
