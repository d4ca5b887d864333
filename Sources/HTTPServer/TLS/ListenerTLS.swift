internal import NIOSSL
private import Synchronization

/// TLS of one listener: what it is spoken with, which follows the files, and what became of the handshakes.
package final class ListenerTLS: Sendable {
    private let files: TLSFiles
    private let onFailedHandshake: @Sendable (String) -> Void
    // Taken once a connection: beside its handshake, a lock is nothing.
    private let credentials: Mutex<TLSCredentials>
    private let failedHandshakes = Atomic(0)

    /// Reads the files for the first time. Blocks.
    ///
    /// - Parameter onFailedHandshake: called with the reason, which is one of few.
    /// - Throws: ``TLSFileError`` where one of them is not what it should be.
    package init(
        _ files: TLSFiles, onFailedHandshake: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(TLSFileError) {
        self.files = files
        self.onFailedHandshake = onFailedHandshake
        credentials = Mutex(try TLSCredentials(reading: files))
    }

    /// Reads the files again if they have changed. Connections from now on are spoken with what they hold; those that
    /// there are stay as they are. Blocks; one call comes after the other.
    ///
    /// - Returns: whether they have changed.
    /// - Throws: ``TLSFileError`` where they can't be used; what there was stays in use.
    package func reload() throws(TLSFileError) -> Bool {
        guard !credentials.withLock(\.self).areCurrent(files) else { return false }
        let new = try TLSCredentials(reading: files)
        credentials.withLock { $0 = new }
        return true
    }

    /// When the listener's certificate ends.
    package var expiresAtUnixSeconds: Int64 { credentials.withLock { $0.expiresAtUnixSeconds } }

    /// Handshakes that came to nothing, but for those that the other side broke off.
    package var handshakeFailures: Int { failedHandshakes.load(ordering: .relaxed) }

    /// What stands between the network and HTTP on one connection.
    ///
    /// - Parameter seconds: how long the handshake may take.
    func makeHandlers(handshakeWithin seconds: Int64) -> (NIOSSLServerHandler, TLSHandshake) {
        let handler = credentials.withLock { $0.makeHandler() }
        let handshake = TLSHandshake(of: handler, clientNames: files.clientNames, within: seconds) { [self] failure in
            failedHandshakes.add(1, ordering: .relaxed)
            onFailedHandshake(failure.reason)
        }
        return (handler, handshake)
    }
}
