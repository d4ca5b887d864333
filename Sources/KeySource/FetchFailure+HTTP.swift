private import Clocks
private import NIOCore
internal import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL
private import OutboundHTTP

extension FetchFailure {
    /// What an answer means that is neither a document nor a way to one.
    init(describing response: HTTPResponseHead) {
        let isBusy = [429, 503].contains(response.status.code)
        let retryAfter =
            isBusy
            ? response.headers[canonicalForm: "Retry-After"].first.flatMap { Freshness.deltaSeconds(String($0)) } : nil
        self.init(
            .http, "the server answered with status \(response.status.code)",
            retryAfter: retryAfter.map(Interval.seconds)
        )
    }

    /// What a library's error means to an operator. Only its kind is told: its text could hold anything.
    init(describing error: any Error) {
        switch error {
        case let error as HTTPExchangeError: self.init(describing: error)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self.init(.http, "the compressed body is damaged")
        case is HTTPParserError: self.init(.http, "the answer is not HTTP")
        case is NIOConnectionError, is ChannelError, is IOError:
            self.init(.connect, "the connection was refused or broke")
        case is NIOSSLExtraError: self.init(.tls, "the certificate is not for this host")
        case let error as NIOSSLError: self.init(describing: error)
        case is BoringSSLError: self.init(.tls, "TLS failed")
        default: self.init(.http, "the fetch failed")
        }
    }

    private init(describing error: NIOSSLError) {
        guard case .handshakeFailed = error else {
            self.init(.tls, "TLS failed")
            return
        }
        // Nothing but BoringSSL's own name of the reason tells the two apart.
        if String(describing: error).contains("CERTIFICATE_VERIFY_FAILED") {
            self.init(.tls, "the server's certificate is not trusted, or is not valid now")
            isUntrustedCertificate = true
        } else {
            self.init(.tls, "the TLS handshake failed: does the server speak TLS 1.2 or later?")
        }
    }

    private init(describing error: HTTPExchangeError) {
        switch error {
        case .connectTimeout: self.init(.connect, "no connection within the connect time-out")
        case .tlsHandshakeTimeout: self.init(.tls, "the TLS handshake timed out")
        case .idleTimeout: self.init(.http, "the server did not answer in time")
        case .connectionClosed: self.init(.http, "the server closed the connection")
        case .proxyRefused: self.init(.connect, "the proxy refused the connection")
        case .bodyTooLarge(let limit): self.init(.http, "the body is larger than \(limit) bytes")
        case .tooManyOctets(let limit):
            self.init(.http, "the answer is larger than \(limit) bytes with all its parts")
        case .tooSlow(let rate): self.init(.http, "the body comes more slowly than \(rate) bytes a second")
        }
    }
}
