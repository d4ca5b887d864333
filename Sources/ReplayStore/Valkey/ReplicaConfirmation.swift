internal import NIOCore

/// Asks whether replicas have what was written over one connection, with one `WAIT` at a time: each covers every command that was
/// sent before it. Confined to one event loop.
///
/// A server answers nothing else on a connection while it waits there. So a `WAIT` takes less than half of a claim's time, and a
/// claim that came in meanwhile has enough left for its own.
final class ReplicaConfirmation {
    private let replicas: Int
    private let limit: TimeAmount
    /// Called with whether enough replicas have it: by the `WAIT` under way, and by the one after it.
    private var covered: [(Bool) -> Void] = []
    private var later: [(Bool) -> Void] = []
    /// The number of the `WAIT` under way, and when it is overdue; `nil`: there is none.
    private var current: (number: Int, overdue: NIODeadline)?

    /// - Parameter timeout: the time that a claim has.
    init(replicas: Int, timeout: TimeAmount) {
        self.replicas = replicas
        limit = max(.milliseconds(timeout.nanoseconds / 1_000_000 * 2 / 5), .milliseconds(1))
    }

    /// Whether the server is still allowed to answer nothing but its `WAIT`.
    func isUnderWay(at now: NIODeadline) -> Bool { current.map { now < $0.overdue } ?? false }

    /// - Parameters:
    ///   - number: of a command that was carried out.
    ///   - completion: told whether enough replicas have it, in time.
    func confirm(_ number: Int, over replies: ReplyQueue, _ completion: @escaping (Bool) -> Void) {
        if let current {
            if number < current.number { covered.append(completion) } else { later.append(completion) }
        } else {
            begin([completion], over: replies)
        }
    }

    private func begin(_ completions: [(Bool) -> Void], over replies: ReplyQueue) {
        covered = completions
        // Before it is sent, since a connection that has ended tells so at once.
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
