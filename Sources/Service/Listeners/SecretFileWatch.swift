internal import NIOCore
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
    private let poller = FilePoller()

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
    }

    /// Starts to poll the files every two seconds.
    func start(on loop: any EventLoop) { poller.start(on: loop) { self.look() } }

    /// Polls the files now.
    func poll() async { await poller.poll { self.look() } }

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
