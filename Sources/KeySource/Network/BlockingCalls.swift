private import NIOPosix

/// Runs what blocks its thread for as long as a name server or a disk likes, on a thread of its own.
///
/// Each provider has one, so that a name server that hangs holds up nobody but those who ask it, and can't use up the machine's
/// threads either.
final class BlockingCalls: Sendable {
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init() { thread.start() }

    deinit { thread.shutdownGracefully { _ in } }

    /// Runs a call once those before it have returned.
    func run<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await thread.runIfActive(call)
    }
}
