private import Glibc
private import NIOCore
private import NIOPosix
private import NIOSSL

/// Why a connection to a store failed or ended, as a text for the log. It contains no text from the server.
enum ConnectionFailure {
    static let closed = "the connection was closed"
    static let silent = "it does not answer in time"
    static let notRESP = "its replies are not those of a Valkey or Redis"
    static let replica = "it is a replica, and takes no claims"

    /// The text for a network or TLS error.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if let first = error.connectionErrors.first?.error { reason(first) } else { "its name can't be resolved" }
        case ChannelError.connectTimeout:
            "there is no connection in time"
        case let error as IOError: reason(errno: error.errnoCode)
        case is NIOSSLExtraError: "TLS: its certificate is not for this host"
        case NIOSSLError.handshakeFailed(let error): reason(handshake: error)
        case NIOSSLError.uncleanShutdown: closed
        // In TLS 1.3, the server checks the client's certificate after the client's handshake is complete.
        case let error as BoringSSLError: reason(handshake: error)
        case is NIOSSLError: "TLS failed"
        default: "the connection failed"
        }
    }

    private static func reason(errno: CInt) -> String {
        switch errno {
        case ECONNREFUSED: "the connection was refused"
        case ECONNRESET, EPIPE: "the connection was reset"
        case ENOENT: "there is no such socket"
        case EACCES: "the socket's permissions deny it"
        case EHOSTUNREACH, ENETUNREACH: "there is no route to it"
        case EMFILE, ENFILE: "too many files are open"
        default: "the connection failed (errno \(errno))"
        }
    }

    /// The library reports the reason only in the error's description.
    private static func reason(handshake error: BoringSSLError) -> String {
        let text = String(describing: error)
        let known = [
            ("CERTIFICATE_VERIFY_FAILED", "TLS: its certificate is not trusted, or is not valid now"),
            ("WRONG_VERSION_NUMBER", "it does not speak TLS"),
            ("CERTIFICATE_REQUIRED", "TLS: it asks for a client certificate (certificate_file, key_file)"),
            ("ALERT_UNKNOWN_CA", "TLS: it does not trust the client certificate"),
            ("ALERT_BAD_CERTIFICATE", "TLS: it does not accept the client certificate"),
            ("ALERT_CERTIFICATE_EXPIRED", "TLS: to it the client certificate has expired"),
        ]
        return known.first { text.contains($0.0) }?.1 ?? "the TLS handshake failed"
    }
}
