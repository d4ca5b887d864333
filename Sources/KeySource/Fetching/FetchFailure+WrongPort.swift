/// Failures after the connection was established and before there was an answer. The usual cause is a URL with the
/// wrong scheme or port, so the messages name it.
extension FetchFailure {
    // MARK: https

    /// The server did not respond with TLS to the handshake.
    static let notTLS = FetchFailure(
        .tls, "the server did not answer in TLS: this port probably speaks plain HTTP; use the server's https port")

    /// The server closed or reset the connection before the TLS handshake was complete.
    static let closedInHandshake = FetchFailure(
        .tls, "the server closed the connection during the TLS handshake: check that this port speaks https")

    /// The TLS handshake timed out.
    static let silentInHandshake = FetchFailure(
        .tls,
        "the server accepted the connection, but the TLS handshake timed out: check that this port speaks https and that no firewall is in the way"
    )

    /// The body ends with the connection, which was closed without a `close_notify` (RFC 8446, section 6.1).
    static let uncleanShutdown = FetchFailure(
        .tls,
        "the server closed the connection without a TLS close_notify, so the answer may be cut off: have it send Content-Length, or check the proxy in front of it"
    )

    // MARK: http

    /// Appended to failures of a plain-HTTP exchange that a TLS port can cause too; empty over TLS.
    static func hint(isSecure: Bool) -> String {
        isSecure ? "" : ": if this port speaks TLS, write https:// instead of http://"
    }
}
