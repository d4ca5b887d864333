internal import HTTP
internal import NIOCore
private import NIOPosix
private import Synchronization

/// Keeps files current that are rotated while the service runs.
///
/// If the files can't be used, the previous ones stay in use, and the failure is reported once. Polls run one after the
/// other on a thread of their own: a hanging disk delays nothing else.
final class FileWatch: Sendable {
    private let readAgain: @Sendable () throws -> Bool
    private let onChange: @Sendable () -> Void
    private let onFailure: @Sendable (_ reason: String) -> Void
    private let state = Mutex(State())
    private let thread = NIOThreadPool(numberOfThreads: 1)

    /// Polling an unchanged file takes one call to `stat`.
    private static let period = TimeAmount.seconds(2)

    /// The number of reloads of changed files, by result.
    struct Counts: Sendable, Equatable {
        var successes = 0
        var failures = 0
    }

    private struct State: Sendable {
        var counts = Counts()
        /// What is wrong with the current files, if anything.
        var failure: String?
    }

    /// - Parameters:
    ///   - readAgain: reads the files, and uses them if they have changed; returns whether they have. It throws an error
    ///     whose description names the file and the reason, and no part of a secret. Blocks.
    ///   - onChange: reports a change.
    ///   - onFailure: reports why the files can't be used.
    init(
        _ readAgain: @escaping @Sendable () throws -> Bool, onChange: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (_ reason: String) -> Void
    ) {
        self.readAgain = readAgain
        self.onChange = onChange
        self.onFailure = onFailure
        thread.start()
    }

    deinit { thread.shutdownGracefully { _ in } }

    var counts: Counts { state.withLock(\.counts) }

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
            let isChanged = try readAgain()
            state.withLock { state in
                state.failure = nil
                if isChanged { state.counts.successes += 1 }
            }
            if isChanged { onChange() }
        } catch {
            let reason = "\(error)"
            let isNew = state.withLock { state in
                defer { state.failure = reason }
                if state.failure != reason { state.counts.failures += 1 }
                return state.failure != reason
            }
            if isNew { onFailure(reason) }
        }
    }
}

/// One listener's TLS certificate and key, which are kept current.
struct CertificateWatch: Sendable {
    let tls: ListenerTLS
    /// The listener's name in the log and in metrics.
    let name: String
    let files: FileWatch

    /// Reads the files for the first time. Blocks.
    ///
    /// - Throws: ``TLSFileError``.
    init(_ listener: ListenerName, _ files: TLSFiles, log: Log) throws(TLSFileError) {
        let name = listener.rawValue
        let tls = try ListenerTLS(files) { reason in
            log.write(.warning, "TLS handshake failed", [("listener", .text(name)), ("reason", .text(reason))])
        }
        @Sendable func report(_ level: Log.Level, _ message: StaticString) {
            log.write(
                level, message, [("listener", .text(name)), ("expires_at", .number(tls.expiresAtUnixSeconds))])
        }
        @Sendable func warnIfExpired() {
            if tls.expiresAtUnixSeconds <= SystemClocks.unixSeconds() { report(.warning, "certificate has expired") }
        }
        self.tls = tls
        self.name = name
        self.files = FileWatch {
            try tls.reload()
        } onChange: {
            report(.info, "certificate reloaded")
            warnIfExpired()
        } onFailure: { reason in
            log.write(
                .warning, "certificate can't be reloaded", [("listener", .text(name)), ("reason", .text(reason))])
        }
        warnIfExpired()
    }
}
