internal import NIOCore
private import NIOPosix
private import Synchronization

/// Keeps files with secrets current: they are rotated while the service runs.
///
/// If the files can't be used, the previous values stay in use, and the failure is logged once.
final class SecretFileWatch<Value: Sendable>: Sendable {
    private let readAgain: @Sendable () throws -> Value?
    private let log: Log
    private let messages: Messages
    private let onChange: @Sendable (Value) -> Void
    /// What is wrong with the current files, if anything.
    private let failure = Mutex<String?>(nil)
    private let poller = FilePoller()

    /// The messages of log lines.
    struct Messages: Sendable {
        let changed: StaticString
        let unusable: StaticString
    }

    /// - Parameters:
    ///   - readAgain: reads the files; `nil` if they are as before. It throws an error whose description names the
    ///     file and the reason, and no part of a secret.
    ///   - onChange: called with what was read, on any thread.
    init(
        _ readAgain: @escaping @Sendable () throws -> Value?, _ messages: Messages, log: Log,
        onChange: @escaping @Sendable (Value) -> Void
    ) {
        self.readAgain = readAgain
        self.messages = messages
        self.log = log
        self.onChange = onChange
    }

    /// Starts to poll the files every two seconds.
    func start(on loop: any EventLoop) { poller.start(on: loop) { self.look() } }

    /// Polls the files now.
    func poll() async { await poller.poll { self.look() } }

    private func look() {
        do {
            let value = try readAgain()
            failure.withLock { $0 = nil }
            guard let value else { return }
            onChange(value)
            log.write(.info, messages.changed)
        } catch {
            let reason = "\(error)"
            let isNew = failure.withLock { failure in
                defer { failure = reason }
                return failure != reason
            }
            if isNew { log.write(.warning, messages.unusable, [("reason", .text(reason))]) }
        }
    }
}

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
