internal import NIOCore
private import NIOPosix
private import Synchronization
internal import SignIns
internal import Telemetry

/// Keeps the files of sign-ins current: sealing keys and the store's password are rotated while the service runs.
///
/// Files that can't be used change nothing, and are reported once.
final class SignInFileWatch: Sendable {
    private let readAgain: @Sendable () throws -> HandleKeys?
    private let log: Log
    private let onKeys: @Sendable (HandleKeys) -> Void
    /// What is wrong with the current files, if anything.
    private let failure = Mutex<String?>(nil)
    /// A thread of its own, so that a hanging disk delays nothing else. Only one, so that polls run one after the
    /// other.
    private let thread = NIOThreadPool(numberOfThreads: 1)

    private static let period = TimeAmount.seconds(2)

    /// - Parameters:
    ///   - readAgain: as in ``AssayService/Configuration/readSignInFiles``.
    ///   - onKeys: called with new keys, on any thread.
    init(
        _ readAgain: @escaping @Sendable () throws -> HandleKeys?, log: Log,
        onKeys: @escaping @Sendable (HandleKeys) -> Void
    ) {
        self.readAgain = readAgain
        self.log = log
        self.onKeys = onKeys
        thread.start()
    }

    deinit { thread.shutdownGracefully { _ in } }

    /// Starts to poll the files every two seconds.
    func start(on loop: any EventLoop) {
        loop.scheduleRepeatedAsyncTask(initialDelay: Self.period, delay: Self.period) { _ in
            loop.makeFutureWithTask { await self.poll() }
        }
    }

    /// Polls the files now.
    func poll() async { try? await thread.runIfActive { self.look() } }

    private func look() {
        do {
            let keys = try readAgain()
            failure.withLock { $0 = nil }
            guard let keys else { return }
            onKeys(keys)
            log.write(.info, "sign-in keys changed")
        } catch {
            let reason = "\(error)"
            let isNew = failure.withLock { failure in
                defer { failure = reason }
                return failure != reason
            }
            if isNew {
                log.write(.warning, "sign-in files can't be used, those before stay", [("reason", .text(reason))])
            }
        }
    }
}
