private import Glibc
package import NIOCore
package import NIOHTTP1
private import NIOHTTPCompression
private import NIOPosix
package import NIOSSL

/// One HTTP/1.1 request, on a connection of its own or on a ``KeptConnection``.
///
/// Before the response is returned, a connection of its own is closed and its timers are cancelled, so that nothing
/// outlives the call. The caller keeps the expensive part, the trusted certificates (``TrustStore``).
package struct HTTPExchange: Sendable {
    package var destination: Destination
    /// `nil` for plain HTTP.
    package var tls: TLS?
    package var head: HTTPRequestHead
    package var body: [UInt8]
    package var limits: Limits
    /// Whether to request gzip or deflate, and decompress the body.
    package var decompresses = false
    /// Called once on the event loop with the head of the response; `false` ends the exchange without reading the body.
    package var readsBody: @Sendable (HTTPResponseHead) -> Bool = { _ in true }

    /// The peer to connect to.
    package enum Destination: Sendable {
        /// An IP address as text.
        case address(String, port: Int)
        /// A name, which the system resolves; each address is tried.
        case host(String, port: Int)
        case unixSocket(String)
        /// A host through an HTTP proxy, by CONNECT.
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
        /// For SNI and certificate verification; `nil` if the server is identified by its address.
        let serverName: String?
        let accepts: @Sendable (NIOSSLCertificate?) -> Bool

        /// - Parameters:
        ///   - host: the server's name or IP address, which its certificate must have; `nil` if it has none.
        ///   - accepts: called on the event loop with the server's certificate after its verification, and before
        ///     anything is sent. `false` ends the exchange.
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
        /// For the connection and the TLS handshake together.
        let connectTimeout: Interval
        /// Until the head of the response, and between parts of its body.
        let idleTimeout: Interval
        /// For the whole exchange; `nil` for no limit.
        let totalTimeout: Interval?
        /// In bytes, after decompression.
        let maximumBody: Int
        /// In bytes on the wire beyond ``maximumBody``, for heads, chunk sizes and TLS.
        let maximumOverhead: Int
        /// The minimum rate of the body in bytes per second. Once `after` has passed, a slower exchange is aborted.
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

        /// For an exchange with one limit for the whole response.
        package init(connectTimeout: Interval, totalTimeout: Interval, maximumBody: Int) {
            self.init(
                connectTimeout: connectTimeout, idleTimeout: totalTimeout, totalTimeout: totalTimeout,
                maximumBody: maximumBody, maximumOverhead: 128 * 1024)
        }
    }

    /// - Parameter head: the fields for framing are added here.
    package init(to destination: Destination, tls: TLS?, head: HTTPRequestHead, body: [UInt8] = [], limits: Limits) {
        self.destination = destination
        self.tls = tls
        self.head = head
        self.body = body
        self.limits = limits
        self.head.headers.remove(name: "Transfer-Encoding")
        if !body.isEmpty { self.head.headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)") }
    }
}

extension HTTPExchange {
    /// Performs the exchange. If the task is cancelled, it ends as if the server had closed the connection.
    ///
    /// - Parameter kept: keeps the connection for later exchanges with this server. If the server closes the connection
    ///   of an earlier one instead of answering, the request is repeated on a new one, so it must be idempotent.
    package func perform(on loop: any EventLoop, keeping kept: KeptConnection? = nil) async -> HTTPAnswer {
        let attempts = DialAttempts()
        let dialer = HTTPDialer(
            to: destination, tls: tls, timeout: limits.connectTimeout,
            maximumOctets: limits.maximumBody + limits.maximumOverhead,
            decompressionLimit: decompresses ? limits.maximumBody : nil)
        let begun = NIODeadline.now()
        @Sendable func ask(_ connection: ClientConnection) -> EventLoopFuture<HTTPAnswer> {
            connection.exchange(request(begun: begun, keepsConnection: kept != nil))
        }
        @Sendable func askOnNewConnection() -> EventLoopFuture<HTTPAnswer> {
            dialer.dial(on: loop, attempts).flatMap { connection in
                kept?.keep(connection, to: destination)
                return ask(connection)
            }
        }
        let answer = loop.flatSubmit {
            guard let reused = kept?.reuse() else { return askOnNewConnection() }
            return ask(reused).flatMap { answer in
                answer.isLost ? askOnNewConnection() : loop.makeSucceededFuture(answer)
            }
        }
        return await withTaskCancellationHandler {
            do {
                return try await answer.get()
            } catch {
                return HTTPAnswer(error)
            }
        } onCancel: {
            attempts.cancel()
            kept?.close()
        }
    }

    private func request(begun: NIODeadline, keepsConnection: Bool) -> ClientRequest {
        var head = head
        if !keepsConnection { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        var request = ClientRequest(
            head: head, body: ByteBuffer(bytes: body), idleTimeout: limits.idleTimeout,
            deadline: limits.totalTimeout.map { begun + .milliseconds($0.milliseconds) } ?? .distantFuture,
            maximumBody: limits.maximumBody, maximumOverhead: limits.maximumOverhead, keepsConnection: keepsConnection)
        request.minimumRate = limits.minimumRate
        request.readsBody = readsBody
        return request
    }
}

/// The outcome of an exchange.
package struct HTTPAnswer: Sendable {
    /// `nil` if the exchange failed before the head arrived.
    package let head: HTTPResponseHead?
    /// Empty if the body was not read.
    package let body: Result<[UInt8], HTTPExchangeError>

    init(_ head: HTTPResponseHead?, _ body: Result<[UInt8], any Error>) {
        self.head = head
        self.body = body.mapError(HTTPExchangeError.init)
    }

    /// A failure without a response.
    init(_ error: any Error) { self.init(nil, .failure(error)) }

    /// Whether the connection ended before the response began.
    fileprivate var isLost: Bool {
        guard head == nil, case .failure(let error) = body else { return false }
        return [.connectionClosed, .connectionReset, .connectionFailed, .uncleanShutdown].contains(error)
    }
}

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
