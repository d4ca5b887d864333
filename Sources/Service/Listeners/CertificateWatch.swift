internal import Telemetry
private import Host
internal import HTTPServer
internal import NIOCore
private import NIOPosix
private import Synchronization

/// Keeps what one listener speaks TLS with as its files have it: certificates are renewed while the service runs.
///
/// Files that can't be used change nothing, and are told of once.
final class CertificateWatch: Sendable {
    let tls: ListenerTLS
    /// The listener's name, for log and metrics.
    let name: String
    private let log: Log
    private let state = Mutex(State())
    /// Its own: a disk that hangs holds up nobody else. One, so that one look comes after the other.
    private let thread = NIOThreadPool(numberOfThreads: 1)

    /// How often files that had changed were read, and what came of it.
    struct Counts: Sendable, Equatable {
        var successes = 0
        var failures = 0
    }

    private struct State: Sendable {
        var counts = Counts()
        /// What is wrong with the files as they are.
        var failure: TLSFileError?
    }

    /// A look at files that have not changed is three calls of `stat`.
    private static let period = TimeAmount.seconds(2)

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
        thread.start()
        warnIfExpired()
    }

    deinit { thread.shutdownGracefully { _ in } }

    var counts: Counts { state.withLock(\.counts) }

    /// Looks at the files every other second from now on.
    func start(on loop: any EventLoop) {
        loop.scheduleRepeatedAsyncTask(initialDelay: Self.period, delay: Self.period) { _ in
            loop.makeFutureWithTask { await self.poll() }
        }
    }

    /// Looks at the files now, and takes them into use if they have changed.
    func poll() async { try? await thread.runIfActive { self.reload() } }

    private func reload() {
        do throws(TLSFileError) {
            let isChanged = try tls.reload()
            state.withLock { state in
                state.failure = nil
                if isChanged { state.counts.successes += 1 }
            }
            guard isChanged else { return }
            log.write(
                .info, "certificate changed",
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
                .warning, "certificate can't be changed",
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
