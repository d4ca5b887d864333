internal import HTTP
private import NIOCore
internal import NIOHTTP1

extension FetchFailure {
    /// The failure for a response that is neither a document nor a redirect.
    ///
    /// - Parameter isSecure: whether the URL was `https`. TLS ports answer a plain request with 400.
    init(describing response: HTTPResponseHead, isSecure: Bool) {
        let isBusy = [429, 503].contains(response.status.code)
        let retryAfter =
            isBusy
            ? response.headers[canonicalForm: "Retry-After"].first.flatMap { Freshness.deltaSeconds(String($0)) } : nil
        self.init(
            .http,
            "the server answered with status \(response.status.code)"
                + (response.status == .badRequest ? Self.hint(isSecure: isSecure) : "")
                + ([401, 403].contains(response.status.code) ? Self.hintOnCredentials : ""),
            retryAfter: retryAfter.map(Interval.seconds)
        )
        // An S3 bucket answers 403 instead of 404, if it may not be listed.
        isAbsence = [403, 404, 410].contains(response.status.code)
        isRefusal = (400...499).contains(response.status.code) && response.status.code != 429
    }

    private static let hintOnCredentials =
        ". Assay sends no credentials: check the URL (some servers answer 403 if there is no such document), let everyone read the document, or set jwks_file. In Kubernetes, bind the ClusterRole system:service-account-issuer-discovery to the group system:unauthenticated"

    /// The failure for an exchange that did not succeed.
    ///
    /// - Parameter isSecure: whether the URL was `https`.
    init(describing answer: HTTPAnswer, isSecure: Bool) {
        // If a head arrived, the port is right.
        let hint = answer.head == nil ? Self.hint(isSecure: isSecure) : nil
        switch answer.body {
        case .success: self.init(.http, "the fetch failed")
        case .failure(let error): self.init(describing: error, hint)
        }
    }

    /// The failure for a connection that could not be opened.
    ///
    /// - Parameter isSecure: whether the URL was `https`.
    init(describing error: HTTPExchangeError, isSecure: Bool) {
        self.init(describing: error, Self.hint(isSecure: isSecure))
    }

    /// - Parameter hint: what to check; `nil` if a head arrived.
    private init(describing error: HTTPExchangeError, _ hint: String?) {
        switch error {
        case .connectTimeout: self.init(.connect, "no connection within the connect timeout")
        case .connectionFailed: self.init(.connect, "the connection was refused or broke")
        case .connectionReset: self.init(.connect, "the server reset the connection" + (hint ?? ""))
        case .connectionClosed:
            self.init(.http, "the server closed the connection before its answer was complete" + (hint ?? ""))
        case .proxyRefused(status: 407):
            self.init(
                .connect,
                "the proxy refused the connection (status 407): it needs a user name and a password that it accepts, in HTTPS_PROXY as http://user:password@host:port"
            )
        case .proxyRefused(let status):
            self.init(
                .connect, "the proxy opened no tunnel (status \(status)): check that it may and can reach this host")
        case .tlsHandshakeTimeout: self = .silentInHandshake
        case .notTLS: self = .notTLS
        case .closedInHandshake: self = .closedInHandshake
        case .handshakeFailed:
            self.init(.tls, "the TLS handshake failed: does the server speak TLS 1.2 or later?")
        case .certificateNotTrusted:
            self.init(.tls, "the server's certificate is not trusted, or is not valid now")
            certificateFault = .untrusted
        case .certificateForAnotherHost:
            self.init(.tls, "the certificate is not for this host")
            certificateFault = .forAnotherHost
        case .certificateNotAccepted:
            self.init(.tls, "the server's certificate is signed with SHA-1 or weaker, which can be forged")
        case .uncleanShutdown: self = .uncleanShutdown
        case .tlsFailed: self.init(.tls, "TLS failed")
        case .idleTimeout, .totalTimeout:
            self.init(
                .http,
                hint.map { "the server accepted the connection, but did not answer in time" + $0 }
                    ?? "the server stopped in the middle of its answer")
        case .notHTTP: self.init(.http, "the answer is not HTTP" + (hint ?? ""))
        case .damagedCompression: self.init(.http, "the compressed body is damaged")
        case .bodyTooLarge(let limit): self.init(.http, "the body is larger than \(limit) bytes")
        case .tooManyOctets(let limit):
            self.init(.http, "the response is larger than \(limit) bytes in total")
        case .tooSlow(let rate): self.init(.http, "the body arrives more slowly than \(rate) bytes a second")
        case .other: self.init(.http, "the fetch failed")
        }
    }
}

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
