private import Glibc
private import NIOCore
private import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL

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
