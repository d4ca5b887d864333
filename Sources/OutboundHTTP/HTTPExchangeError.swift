/// Why an exchange failed: only the kind of failure, without any text from the peer or a library.
package enum HTTPExchangeError: Error, Sendable, Equatable {
    // MARK: Connecting

    case connectTimeout
    /// The connection was refused or broke, or the host name can't be resolved.
    case connectionFailed
    case connectionReset
    /// The server closed the connection before the response was complete.
    case connectionClosed
    /// The proxy did not open a tunnel on CONNECT.
    case proxyRefused(status: UInt)

    // MARK: TLS

    case tlsHandshakeTimeout
    /// The server did not respond with TLS to the handshake.
    case notTLS
    case closedInHandshake
    case handshakeFailed
    case certificateNotTrusted
    case certificateForAnotherHost
    /// ``HTTPExchange/TLS`` rejected the certificate.
    case certificateNotAccepted
    /// The body ends with the connection, which was closed without a `close_notify` (RFC 8446, section 6.1).
    case uncleanShutdown
    case tlsFailed

    // MARK: The response

    /// The server sent nothing for ``HTTPExchange/Limits/idleTimeout``.
    case idleTimeout
    /// The response was not complete within ``HTTPExchange/Limits/totalTimeout``.
    case totalTimeout
    case notHTTP
    case damagedCompression
    case bodyTooLarge(limit: Int)
    case tooManyOctets(limit: Int)
    case tooSlow(octetsPerSecond: Int64)

    case other
}
