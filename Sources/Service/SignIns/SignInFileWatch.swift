internal import NIOCore
private import NIOPosix
private import Synchronization
internal import SignIns
internal import Telemetry

/// Has sign-ins go by their files as they are: keys that seal are rotated while the service runs, and so is the store's password.
///
/// Files that can't be used change nothing, and are reported once.
final class SignInFileWatch: Sendable {
    private let readAgain: @Sendable () throws -> HandleKeys?
    private let log: Log
    private let onKeys: @Sendable (HandleKeys) -> Void
    /// What is wrong with the files as they are.
    private let failure = Mutex<String?>(nil)
    /// Its own: a disk that hangs holds up nobody else. One, so that one look comes after the other.
    private let thread = NIOThreadPool(numberOfThreads: 1)

    private static let period = TimeAmount.seconds(2)

    /// - Parameters:
    ///   - readAgain: as in ``AssayService/Configuration/readSignInFiles``.
    ///   - onKeys: called with other keys, on any thread.
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

    /// Looks at the files every other second from now on.
    func start(on loop: any EventLoop) {
        loop.scheduleRepeatedAsyncTask(initialDelay: Self.period, delay: Self.period) { _ in
            loop.makeFutureWithTask { await self.poll() }
        }
    }

    /// Looks at the files now.
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
