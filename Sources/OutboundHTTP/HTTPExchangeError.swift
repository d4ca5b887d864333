/// Why an exchange failed: only the kind, without any text of the other side or of a library.
package enum HTTPExchangeError: Error, Sendable, Equatable {
    // MARK: Connecting

    case connectTimeout
    /// The connection was refused or broke, or the host's name can't be resolved.
    case connectionFailed
    case connectionReset
    /// The server closed the connection before its answer was complete.
    case connectionClosed
    /// The proxy answered the CONNECT with something else than a tunnel.
    case proxyRefused

    // MARK: TLS

    case tlsHandshakeTimeout
    /// The server answered the TLS handshake with something else.
    case notTLS
    case closedInHandshake
    case handshakeFailed
    case certificateNotTrusted
    case certificateForAnotherHost
    /// ``HTTPExchange/TLS`` did not accept the certificate.
    case certificateNotAccepted
    /// The end of the connection ends the body, and came without a `close_notify` (RFC 8446, 6.1).
    case uncleanShutdown
    case tlsFailed

    // MARK: The answer

    /// The server sent nothing for ``HTTPExchange/Limits/idleTimeout``.
    case idleTimeout
    /// The answer was not complete within ``HTTPExchange/Limits/totalTimeout``.
    case totalTimeout
    case notHTTP
    case damagedCompression
    case bodyTooLarge(limit: Int)
    case tooManyOctets(limit: Int)
    case tooSlow(octetsPerSecond: Int64)

    case other
}
