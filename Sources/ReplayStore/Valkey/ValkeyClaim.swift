internal import NIOCore

/// A claim under way. Confined to one event loop.
final class ValkeyClaim {
    let set: RESPCommand
    let get: RESPCommand
    /// This claim's own, so that after a connection that broke it can be told from another's.
    let value: [UInt8]
    let slot: UInt16
    let deadline: NIODeadline
    private let promise: EventLoopPromise<ClaimOutcome>
    var outcome: EventLoopFuture<ClaimOutcome> { promise.futureResult }
    private(set) var isOver = false
    /// Whether a connection broke between the command and its reply: it is sent once more, and not a third time.
    var wasBroken = false
    var redirections = 0
    /// What was asked last, until it has answered.
    var connection: ValkeyNode.Connection?

    init(
        set: RESPCommand, get: RESPCommand, value: [UInt8], slot: UInt16, deadline: NIODeadline,
        promise: EventLoopPromise<ClaimOutcome>
    ) {
        self.set = set
        self.get = get
        self.value = value
        self.slot = slot
        self.deadline = deadline
        self.promise = promise
    }

    func end(_ outcome: ClaimOutcome) {
        guard !isOver else { return }
        isOver = true
        connection = nil
        promise.succeed(outcome)
    }

    /// Ends where nothing is under way: the claim was made only if a connection broke before.
    func endUnmade() { end(.unavailable(mayBeClaimed: wasBroken)) }
}

@available(*, unavailable) extension ValkeyClaim: Sendable {}
