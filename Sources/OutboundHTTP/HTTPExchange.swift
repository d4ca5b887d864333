package import Host
private import NIOCore
package import NIOHTTP1
package import NIOSSL

/// One HTTP/1.1 request over a connection of its own.
///
/// The connection is closed, and its timers are cancelled, before the answer is returned: nothing is held after it. What is
/// expensive, the certificates that are trusted, belongs to the caller (``TrustStore``).
package struct HTTPExchange: Sendable {
    package var destination: Destination
    /// `nil`: plain HTTP.
    package var tls: TLS?
    package var head: HTTPRequestHead
    package var body: [UInt8]
    package var limits: Limits
    /// Whether a body in gzip or deflate is asked for and decoded.
    package var decompresses = false
    /// Called on the event loop once with the head of the answer; `false` ends the exchange there, without its body.
    package var readsBody: @Sendable (HTTPResponseHead) -> Bool = { _ in true }

    /// What is connected to.
    package enum Destination: Sendable {
        /// An IP address in text.
        case address(String, port: Int)
        /// A name, which the system resolves; each of its addresses is tried.
        case host(String, port: Int)
        case unixSocket(String)
        /// A host by way of an HTTP proxy, which is asked by CONNECT.
        case tunnel(Tunnel)
    }

    package struct Tunnel: Sendable {
        let proxy: (host: String, port: Int)
        let target: (host: String, port: Int)
        /// The value of `Proxy-Authorization`.
        let authorization: String?

        package init(
            through proxy: (host: String, port: Int), to target: (host: String, port: Int), authorization: String?
        ) {
            self.proxy = proxy
            self.target = target
            self.authorization = authorization
        }
    }

    package struct TLS: Sendable {
        let context: NIOSSLContext
        /// For SNI, and what the certificate must be for; `nil` where the server is known by its address.
        let serverName: String?
        let accepts: @Sendable (NIOSSLCertificate?) -> Bool

        /// - Parameters:
        ///   - host: the server's name or IP address, which its certificate must be for; `nil`: it has none.
        ///   - accepts: called on the event loop with the server's certificate, which has been verified by then, before anything
        ///     is sent. `false` ends the exchange.
        package init(
            context: NIOSSLContext, host: String?,
            accepts: @escaping @Sendable (NIOSSLCertificate?) -> Bool = { _ in true }
        ) {
            self.context = context
            serverName = host.flatMap { (try? SocketAddress(ipAddress: $0, port: 0)) == nil ? $0 : nil }
            self.accepts = accepts
        }
    }

    package struct Limits: Sendable {
        /// For the connection and its TLS handshake together.
        let connectTimeout: Interval
        /// Until the head of the answer, and between any two parts of its body.
        let idleTimeout: Interval
        /// From the beginning to the end; `nil`: any time.
        let totalTimeout: Interval?
        /// Bytes, decoded.
        let maximumBody: Int
        /// Bytes on the wire beyond ``maximumBody``, for heads, chunks' sizes and TLS.
        let maximumOverhead: Int
        /// A body that comes more slowly than this, in bytes a second, is given up once that long has passed.
        let minimumRate: (octetsPerSecond: Int64, after: Interval)?

        package init(
            connectTimeout: Interval, idleTimeout: Interval, totalTimeout: Interval? = nil, maximumBody: Int,
            maximumOverhead: Int, minimumRate: (octetsPerSecond: Int64, after: Interval)? = nil
        ) {
            self.connectTimeout = connectTimeout
            self.idleTimeout = idleTimeout
            self.totalTimeout = totalTimeout
            self.maximumBody = maximumBody
            self.maximumOverhead = maximumOverhead
            self.minimumRate = minimumRate
        }

        /// For an answer that is waited for as a whole.
        package init(connectTimeout: Interval, totalTimeout: Interval, maximumBody: Int) {
            self.init(
                connectTimeout: connectTimeout, idleTimeout: totalTimeout, totalTimeout: totalTimeout,
                maximumBody: maximumBody, maximumOverhead: 128 * 1024)
        }
    }

    /// - Parameter head: the fields that say how the message is framed, and what becomes of the connection, are set here.
    package init(to destination: Destination, tls: TLS?, head: HTTPRequestHead, body: [UInt8] = [], limits: Limits) {
        self.destination = destination
        self.tls = tls
        self.head = head
        self.body = body
        self.limits = limits
        self.head.headers.replaceOrAdd(name: "Connection", value: "close")
        self.head.headers.remove(name: "Transfer-Encoding")
        if !body.isEmpty { self.head.headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)") }
    }
}
