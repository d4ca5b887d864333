package import NIOCore

/// Lets one decryption at a time run on an event loop, and other requests in between: a private operation takes up to
/// some milliseconds. Confined to its loop.
package final class DecryptionQueue {
    private let loop: any EventLoop
    /// Whether a decryption runs, or has just ended.
    private var isBusy = false
    /// Those for which a code or a grant was used up. They go first, and are as few as calls to providers.
    private var paidFor: [EventLoopPromise<Void>] = []
    private var others: [EventLoopPromise<Void>] = []

    /// The most that wait on a loop, apart from those that were paid for.
    package static let maximumWaiting = 64
    /// Between two decryptions, so that the loop reads from its sockets: tasks that are due at once would run first.
    private static let pause = TimeAmount.microseconds(50)

    package init(on loop: any EventLoop) { self.loop = loop }

    /// Waits for its turn, and decrypts.
    ///
    /// - Throws: ``Problem/overloaded(limit:)`` if too many wait, and what `decrypt` throws.
    func run<Result>(
        isPaidFor: Bool, _ decrypt: () throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        if isBusy {
            guard isPaidFor || others.count < Self.maximumWaiting else {
                throw .overloaded(limit: "\(Self.maximumWaiting) waiting decryptions on an event loop")
            }
            let turn = loop.makePromise(of: Void.self)
            if isPaidFor { paidFor.append(turn) } else { others.append(turn) }
            // The queue never fails a promise.
            try? await turn.futureResult.get()
        }
        isBusy = true
        defer { ended() }
        return try decrypt()
    }

    private func ended() { loop.assumeIsolated().scheduleTask(in: Self.pause) { self.next() } }

    private func next() {
        if !paidFor.isEmpty {
            paidFor.removeFirst().succeed()
        } else if !others.isEmpty {
            others.removeFirst().succeed()
        } else {
            isBusy = false
        }
    }
}

@available(*, unavailable) extension DecryptionQueue: Sendable {}
