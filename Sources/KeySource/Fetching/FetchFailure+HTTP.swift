private import Host
private import Glibc
private import NIOCore
internal import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL
internal import OutboundHTTP

extension FetchFailure {
    /// What an answer means that is neither a document nor a way to one.
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
                + (response.status == .badRequest ? Self.hint(isSecure: isSecure) : ""),
            retryAfter: retryAfter.map(Interval.seconds)
        )
    }

    /// What a failed exchange means to an operator. Of the error, only its kind is told: its text could hold anything.
    ///
    /// - Parameter isSecure: whether the URL was `https`.
    init(describing answer: HTTPAnswer, isSecure: Bool) {
        // Once a head has come, the port is the right one.
        let hint = answer.head == nil ? Self.hint(isSecure: isSecure) : nil
        switch answer.body {
        case .success: self.init(.http, "the fetch failed")
        case .failure(let failure as FetchFailure): self = failure
        case .failure(let error): self.init(describing: error, hint)
        }
    }

    /// - Parameter hint: what to look at; `nil` once a head has come.
    private init(describing error: any Error, _ hint: String?) {
        switch error {
        case let error as HTTPExchangeError: self.init(describing: error, hint)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.http, "the compressed body is damaged")
        case HTTPParserError.invalidEOFState: self.init(describing: HTTPExchangeError.connectionClosed, hint)
        case is HTTPParserError: self.init(.http, "the answer is not HTTP" + (hint ?? ""))
        case let error as IOError where [ECONNRESET, EPIPE].contains(error.errnoCode):
            self.init(.connect, "the server reset the connection" + (hint ?? ""))
        case is NIOConnectionError, is ChannelError, is IOError:
            self.init(.connect, "the connection was refused or broke")
        case is NIOSSLExtraError: self.init(.tls, "the certificate is not for this host")
        case let error as NIOSSLError: self.init(describing: error)
        case is BoringSSLError: self.init(.tls, "TLS failed")
        default: self.init(.http, "the fetch failed")
        }
    }

    private init(describing error: NIOSSLError) {
        switch error {
        case .handshakeFailed(let reason): self.init(describingHandshake: reason)
        case .uncleanShutdown: self = .uncleanShutdown
        default: self.init(.tls, "TLS failed")
        }
    }

    private init(describingHandshake reason: BoringSSLError) {
        // The library exposes the reason only through its description.
        let text = String(describing: reason)
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            self.init(.tls, "the server's certificate is not trusted, or is not valid now")
            isUntrustedCertificate = true
        } else if text.contains("WRONG_VERSION_NUMBER") {
            self = .notTLS
        } else if text.contains("EOF during handshake") {
            self = .closedInHandshake
        } else {
            self.init(.tls, "the TLS handshake failed: does the server speak TLS 1.2 or later?")
        }
    }

    private init(describing error: HTTPExchangeError, _ hint: String?) {
        switch error {
        case .connectTimeout: self.init(.connect, "no connection within the connect time-out")
        case .tlsHandshakeTimeout: self = .silentInHandshake
        case .idleTimeout:
            self.init(
                .http,
                hint.map { "the server accepted the connection, but did not answer in time" + $0 }
                    ?? "the server stopped in the middle of its answer")
        case .connectionClosed:
            self.init(.http, "the server closed the connection before its answer was complete" + (hint ?? ""))
        case .proxyRefused: self.init(.connect, "the proxy refused the connection")
        case .bodyTooLarge(let limit): self.init(.http, "the body is larger than \(limit) bytes")
        case .tooManyOctets(let limit):
            self.init(.http, "the answer is larger than \(limit) bytes with all its parts")
        case .tooSlow(let rate): self.init(.http, "the body comes more slowly than \(rate) bytes a second")
        }
    }
}
