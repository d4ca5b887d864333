internal import NIOCore

/// A claim in progress. Confined to one event loop.
final class ValkeyClaim {
    let set: RESPCommand
    let get: RESPCommand
    /// Unique to this claim, so that it can be recognized after a broken connection.
    let value: [UInt8]
    let slot: UInt16
    let deadline: NIODeadline
    private let promise: EventLoopPromise<ClaimOutcome>
    var outcome: EventLoopFuture<ClaimOutcome> { promise.futureResult }
    private(set) var isOver = false
    /// Whether a connection broke between the command and its reply. The command is then retried once, but not twice.
    var wasBroken = false
    var redirections = 0
    /// The connection of the last command, until its reply arrives.
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

    /// Ends the claim while no command is in flight. It may have been made only if a connection broke earlier.
    func endUnmade() { end(.unavailable(mayBeClaimed: wasBroken)) }
}

@available(*, unavailable) extension ValkeyClaim: Sendable {}

/// A claim that is being released. Confined to one event loop.
final class ValkeyRelease {
    let command: RESPCommand
    private let promise: EventLoopPromise<Bool>
    var outcome: EventLoopFuture<Bool> { promise.futureResult }
    private(set) var isOver = false
    var redirections = 0

    init(_ command: RESPCommand, promise: EventLoopPromise<Bool>) {
        self.command = command
        self.promise = promise
    }

    func end(_ isReleased: Bool) {
        guard !isOver else { return }
        isOver = true
        promise.succeed(isReleased)
    }
}

@available(*, unavailable) extension ValkeyRelease: Sendable {}
