private import NIOPosix

/// Runs calls that block on a name server or a disk, on a thread of its own.
///
/// Each provider has one, so that a hanging name server delays only its own providers, and can't use up the machine's
/// threads.
final class BlockingCalls: Sendable {
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init() { thread.start() }

    deinit { thread.shutdownGracefully { _ in } }

    /// Runs a call after the earlier ones have returned.
    func run<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await thread.runIfActive(call)
    }
}
