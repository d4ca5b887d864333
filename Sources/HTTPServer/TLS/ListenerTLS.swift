internal import NIOSSL
private import Synchronization

/// TLS of one listener: its credentials, which are reloaded when the files change, and its handshake counts.
package final class ListenerTLS: Sendable {
    private let files: TLSFiles
    private let onFailedHandshake: @Sendable (String) -> Void
    // Locked once per connection, which is negligible beside the handshake.
    private let credentials: Mutex<TLSCredentials>
    private let failedHandshakes = Atomic(0)

    /// Reads the files for the first time. Blocks.
    ///
    /// - Parameter onFailedHandshake: called with the reason, one of a closed set.
    /// - Throws: ``TLSFileError`` if one of them can't be used.
    package init(
        _ files: TLSFiles, onFailedHandshake: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(TLSFileError) {
        self.files = files
        self.onFailedHandshake = onFailedHandshake
        credentials = Mutex(try TLSCredentials(reading: files))
    }

    /// Reads the files again if they have changed. New connections use the new contents; existing ones stay as they
    /// are. Blocks; calls must not overlap.
    ///
    /// - Returns: whether they have changed.
    /// - Throws: ``TLSFileError`` if they can't be used; the previous ones stay in use.
    package func reload() throws(TLSFileError) -> Bool {
        guard !credentials.withLock(\.self).areCurrent(files) else { return false }
        let new = try TLSCredentials(reading: files)
        credentials.withLock { $0 = new }
        return true
    }

    /// When the listener's certificate expires.
    package var expiresAtUnixSeconds: Int64 { credentials.withLock { $0.expiresAtUnixSeconds } }

    /// The number of failed handshakes, except those that the client aborted.
    package var handshakeFailures: Int { failedHandshakes.load(ordering: .relaxed) }

    /// The handlers between the network and HTTP on one connection.
    ///
    /// - Parameter seconds: the timeout of the handshake.
    func makeHandlers(handshakeWithin seconds: Int64) -> (NIOSSLServerHandler, TLSHandshake) {
        let handler = credentials.withLock { $0.makeHandler() }
        let handshake = TLSHandshake(of: handler, clientNames: files.clientNames, within: seconds) { [self] failure in
            failedHandshakes.add(1, ordering: .relaxed)
            onFailedHandshake(failure.reason)
        }
        return (handler, handshake)
    }
}
