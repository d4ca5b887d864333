internal import HTTP
private import NIOCore
internal import NIOHTTP1

extension FetchFailure {
    /// The failure for a response that is neither a document nor a redirect.
    ///
    /// - Parameter isSecure: whether the URL was `https`. TLS ports answer a plain request with 400.
    init(describing response: HTTPResponseHead, isSecure: Bool) {
        let status = response.status.code
        let retryAfter = response.headers[canonicalForm: "Retry-After"].first.map(String.init)
        self.init(
            .http,
            "the server answered with status \(status)" + (status == 400 ? Self.hint(isSecure: isSecure) : "")
                + ([401, 403].contains(status) ? Self.hintOnCredentials : ""),
            retryAfter: [429, 503].contains(status)
                ? retryAfter.flatMap(Freshness.deltaSeconds).map(Interval.seconds) : nil)
        // An S3 bucket answers 403 instead of 404, if it may not be listed.
        isAbsence = [403, 404, 410].contains(status)
        isRefusal = (400...499).contains(status) && status != 429
    }

    /// Appended to failures of a plain-HTTP exchange that a TLS port can cause too; empty over TLS.
    private static func hint(isSecure: Bool) -> String {
        isSecure ? "" : ": if this port speaks TLS, write https:// instead of http://"
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
        // After connecting and before an answer, the usual cause is a URL with the wrong scheme or port, so these
        // messages name it.
        case .tlsHandshakeTimeout:
            self.init(
                .tls,
                "the server accepted the connection, but the TLS handshake timed out: check that this port speaks https and that no firewall is in the way"
            )
        case .notTLS:
            self.init(
                .tls,
                "the server did not answer in TLS: this port probably speaks plain HTTP; use the server's https port")
        case .closedInHandshake:
            self.init(
                .tls, "the server closed the connection during the TLS handshake: check that this port speaks https")
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
        // The body ended with the connection, without a `close_notify` (RFC 8446, section 6.1).
        case .uncleanShutdown:
            self.init(
                .tls,
                "the server closed the connection without a TLS close_notify, so the answer may be cut off: have it send Content-Length, or check the proxy in front of it"
            )
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
