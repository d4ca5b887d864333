private import Glibc
private import NIOCore
private import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL

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

extension HTTPExchangeError {
    /// Classifies an error that ended an exchange.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as HTTPExchangeError: error
            case ChannelError.connectTimeout: .connectTimeout
            case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
                .damagedCompression
            case HTTPParserError.invalidEOFState: .connectionClosed
            case is HTTPParserError: .notHTTP
            case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode): .connectionReset
            case is NIOConnectionError, is ChannelError, is IOError: .connectionFailed
            case is NIOSSLExtraError: .certificateForAnotherHost
            case NIOSSLError.handshakeFailed(let reason): Self(handshake: reason)
            case NIOSSLError.uncleanShutdown: .uncleanShutdown
            case is NIOSSLError, is BoringSSLError: .tlsFailed
            default: .other
            }
    }

    private init(handshake reason: BoringSSLError) {
        // The library exposes the reason only in its description.
        let text = String(describing: reason)
        self =
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                .certificateNotTrusted
            } else if text.contains("WRONG_VERSION_NUMBER") {
                .notTLS
            } else if text.contains("EOF during handshake") {
                .closedInHandshake
            } else {
                .handshakeFailed
            }
    }
}
