internal import AsyncHTTPClient
private import Clocks
private import NIOCore
private import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
private import NIOSSL

extension FetchFailure {
    init(tooLarge limit: Int) { self.init(.http, "the body is larger than \(limit) bytes") }

    /// What an answer means that is neither a document nor a way to one.
    init(describing response: HTTPClientResponse) {
        let isBusy = [429, 503].contains(response.status.code)
        let retryAfter =
            isBusy
            ? response.headers[canonicalForm: "Retry-After"].first.flatMap { Freshness.deltaSeconds(String($0)) } : nil
        self.init(
            .http, "the server answered with status \(response.status.code)",
            retryAfter: retryAfter.map(Interval.seconds)
        )
    }

    /// What a client library's error means to an operator. Only its kind is told: its text could hold anything.
    init(describing error: any Error, maximumBody: Int) {
        switch error {
        case let error as HTTPClientError: self.init(describing: error)
        case NIOHTTPDecompression.DecompressionError.limit: self.init(tooLarge: maximumBody)
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

    private init(describing error: HTTPClientError) {
        switch error {
        case .connectTimeout: self.init(.connect, "no connection within the connect time-out")
        case .tlsHandshakeTimeout: self.init(.tls, "the TLS handshake timed out")
        case .readTimeout, .deadlineExceeded: self.init(.http, "the server did not answer in time")
        case .remoteConnectionClosed: self.init(.http, "the server closed the connection")
        case .proxyAuthenticationRequired, .invalidProxyResponse:
            self.init(.connect, "the proxy refused the connection")
        default: self.init(.http, "the fetch failed")
        }
    }
}
