/// Why an exchange failed, where no error of NIO says it.
package enum HTTPExchangeError: Error, Sendable, Equatable {
    case connectTimeout
    case tlsHandshakeTimeout
    /// The server sent nothing for ``HTTPExchange/Limits/idleTimeout``.
    case idleTimeout
    /// The server closed the connection before its answer was complete.
    case connectionClosed
    /// The proxy answered the CONNECT with something else than a tunnel.
    case proxyRefused
    case bodyTooLarge(limit: Int)
    case tooManyOctets(limit: Int)
    case tooSlow(octetsPerSecond: Int64)
}
