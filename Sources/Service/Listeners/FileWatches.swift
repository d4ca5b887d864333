internal import HTTP
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
private final class FilePoller: Sendable {
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

/// Keeps one listener's TLS certificate and key current: certificates are renewed while the service runs.
///
/// If the files can't be used, the previous ones stay in use, and the failure is logged once.
final class CertificateWatch: Sendable {
    let tls: ListenerTLS
    /// The listener's name in the log and in metrics.
    let name: String
    private let log: Log
    private let state = Mutex(State())
    private let poller = FilePoller()

    /// The number of reloads of changed files, by result.
    struct Counts: Sendable, Equatable {
        var successes = 0
        var failures = 0
    }

    private struct State: Sendable {
        var counts = Counts()
        /// What is wrong with the current files, if anything.
        var failure: TLSFileError?
    }

    /// Reads the files for the first time. Blocks.
    ///
    /// - Throws: ``TLSFileError``.
    init(_ listener: ListenerName, _ files: TLSFiles, log: Log) throws(TLSFileError) {
        let name = listener.rawValue
        tls = try ListenerTLS(files) { reason in
            log.write(.warning, "TLS handshake failed", [("listener", .text(name)), ("reason", .text(reason))])
        }
        self.name = name
        self.log = log
        warnIfExpired()
    }

    var counts: Counts { state.withLock(\.counts) }

    /// Starts to poll the files every two seconds.
    func start(on loop: any EventLoop) { poller.start(on: loop) { self.reload() } }

    /// Polls the files now, and uses them if they have changed.
    func poll() async { await poller.poll { self.reload() } }

    private func reload() {
        do throws(TLSFileError) {
            let isChanged = try tls.reload()
            state.withLock { state in
                state.failure = nil
                if isChanged { state.counts.successes += 1 }
            }
            guard isChanged else { return }
            log.write(
                .info, "certificate reloaded",
                [("listener", .text(name)), ("expires_at", .number(tls.expiresAtUnixSeconds))])
            warnIfExpired()
        } catch {
            let isNew = state.withLock { state in
                let isNew = state.failure != error
                if isNew { state.counts.failures += 1 }
                state.failure = error
                return isNew
            }
            guard isNew else { return }
            log.write(
                .warning, "certificate can't be reloaded",
                [("listener", .text(name)), ("reason", .text(error.description))])
        }
    }

    private func warnIfExpired() {
        guard tls.expiresAtUnixSeconds <= SystemClocks.unixSeconds() else { return }
        log.write(
            .warning, "certificate has expired",
            [("listener", .text(name)), ("expires_at", .number(tls.expiresAtUnixSeconds))])
    }
}
