internal import HTTP
internal import NIOCore
private import Synchronization

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
