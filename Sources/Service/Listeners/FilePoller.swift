internal import NIOCore
private import NIOPosix

/// Polls files that may change while the service runs.
///
/// It has one thread of its own: a hanging disk delays nothing else, and polls run one after the other.
final class FilePoller: Sendable {
    private let thread = NIOThreadPool(numberOfThreads: 1)

    /// Polling an unchanged file takes one call to `stat`.
    private static let period = TimeAmount.seconds(2)

    init() { thread.start() }

    deinit { thread.shutdownGracefully { _ in } }

    /// Calls `look` every two seconds.
    func start(on loop: any EventLoop, _ look: @escaping @Sendable () -> Void) {
        loop.scheduleRepeatedAsyncTask(initialDelay: Self.period, delay: Self.period) { _ in
            loop.makeFutureWithTask { await self.poll(look) }
        }
    }

    /// Calls `look` now.
    func poll(_ look: @escaping @Sendable () -> Void) async { try? await thread.runIfActive(look) }
}
