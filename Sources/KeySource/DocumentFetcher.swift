package import Clocks
private import AsyncHTTPClient
package import NIOCore
package import NIOPosix
private import NIOHTTP1
private import NIOSSL

/// Fetches small documents over HTTP: discovery documents and JWK Sets.
///
/// One short-lived client a fetch, so that nothing is shared between providers and every address is vetted anew. The name is
/// resolved and vetted here and the connection pinned to what was vetted, so that a second answer of the resolver can't lead
/// elsewhere; SNI and the certificate still go by the name.
package struct DocumentFetcher: Sendable {
    private let rules: NetworkRules
    private let proxy: ProxyEnvironment?
    private let loop: any EventLoop
    private let resolverThreads: NIOThreadPool

    /// A document and what its headers say of its age.
    package struct Document: Sendable {
        package let body: [UInt8]
        package let lifetime: Interval?
    }

    package init(
        rules: NetworkRules, proxy: ProxyEnvironment?, loop: any EventLoop, resolverThreads: NIOThreadPool
    ) {
        self.rules = rules
        self.proxy = proxy
        self.loop = loop
        self.resolverThreads = resolverThreads
    }

    /// Fetches the document at an address, following at most ``NetworkRules/maximumRedirects``.
    ///
    /// - Throws: ``FetchFailure``.
    package func fetch(_ address: String) async throws(FetchFailure) -> Document {
        let rules = self.rules
        let first = try WebAddress(address, allowingHTTP: rules.allowHTTP)
        return try await within(rules.totalTimeout) { () async throws(FetchFailure) in
            var target = first
            for _ in 0...rules.maximumRedirects {
                switch try await self.fetchOnce(target) {
                case .document(let document): return document
                case .redirect(let location):
                    target = try target.redirected(to: location, allowingHTTP: rules.allowHTTP)
                }
            }
            throw FetchFailure(.http, "more than \(rules.maximumRedirects) redirects")
        }
    }

    /// Runs an operation, and fails it when its time is up, whether or not it can be cancelled: a name that is being resolved
    /// can't.
    private func within<Value: Sendable>(
        _ limit: Interval, _ operation: @escaping @Sendable () async throws(FetchFailure) -> Value
    ) async throws(FetchFailure) -> Value {
        let outcome = loop.makePromise(of: Result<Value, FetchFailure>.self)
        let running = Task {
            do throws(FetchFailure) {
                outcome.succeed(.success(try await operation()))
            } catch {
                outcome.succeed(.failure(error))
            }
        }
        let timeout = FetchFailure(.http, "no complete answer within \(limit.secondsRoundedUp) s")
        let timer = loop.scheduleTask(in: .milliseconds(limit.milliseconds)) {
            running.cancel()
            outcome.succeed(.failure(timeout))
        }
        defer { timer.cancel() }
        // The promise only ever succeeds.
        return try await ((try? outcome.futureResult.get()) ?? .failure(timeout)).get()
    }

    private enum Answer {
        case document(Document)
        case redirect(to: String)
    }

    private func fetchOnce(_ target: WebAddress) async throws(FetchFailure) -> Answer {
        let configuration = try await configuration(for: target)
        let client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: configuration)
        let answer: Result<Answer, FetchFailure>
        do throws(FetchFailure) {
            answer = .success(try await exchange(target, client))
        } catch {
            answer = .failure(error)
        }
        // Nothing of the answer depends on how the client goes down.
        try? await client.shutdown()
        return try answer.get()
    }

    private func exchange(_ target: WebAddress, _ client: HTTPClient) async throws(FetchFailure) -> Answer {
        var request = HTTPClientRequest(url: target.text)
        request.headers = ["Accept": "application/json", "User-Agent": "assay"]
        do {
            let response = try await client.execute(
                request, deadline: .now() + .milliseconds(rules.totalTimeout.milliseconds))
            switch response.status.code {
            case 200: break
            case 301, 302, 303, 307, 308:
                guard let location = response.headers.first(name: "Location") else {
                    throw FetchFailure(.http, "a redirect without a location")
                }
                return .redirect(to: location)
            default: throw FetchFailure(.http, "the server answered with status \(response.status.code)")
            }
            // None was asked for, and a body that unpacks to more than it seems is not looked into.
            if let encoding = response.headers.first(name: "Content-Encoding"), encoding.lowercased() != "identity" {
                throw FetchFailure(.http, "the body is compressed, which was not asked for")
            }
            var body: [UInt8] = []
            for try await chunk in response.body {
                guard body.count + chunk.readableBytes <= rules.maximumBody else {
                    throw FetchFailure(.http, "the body is larger than \(rules.maximumBody) bytes")
                }
                body.append(contentsOf: chunk.readableBytesView)
            }
            return .document(Document(body: body, lifetime: lifetime(response.headers)))
        } catch let failure as FetchFailure {
            throw failure
        } catch {
            throw FetchFailure(describing: error)
        }
    }

    private func lifetime(_ headers: HTTPHeaders) -> Interval? {
        let cacheControl = headers["Cache-Control"]
        return Freshness.lifetime(
            cacheControl: cacheControl.isEmpty ? nil : cacheControl.joined(separator: ","),
            age: headers.first(name: "Age"), expires: headers.first(name: "Expires"), date: headers.first(name: "Date"))
    }

    private func configuration(for target: WebAddress) async throws(FetchFailure) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let caFile = rules.caFile { tls.additionalTrustRoots = [.file(caFile)] }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        // Else a refused connection and a bad certificate are tried again until the connect time-out.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .milliseconds(rules.connectTimeout.milliseconds)
        configuration.timeout.read = .milliseconds(rules.totalTimeout.milliseconds)
        if target.isSecure, let proxy, proxy.applies(to: target.host) {
            // The proxy resolves the name; what it may reach is its operator's to say.
            configuration.proxy = .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.credentials.map { .basic(username: $0.user, password: $0.password) })
        } else {
            let address = try await vettedAddress(of: target)
            configuration.dnsOverride = [target.host: address]
        }
        return configuration
    }

    /// The first address of a host, provided that a fetch may connect to it.
    private func vettedAddress(of target: WebAddress) async throws(FetchFailure) -> String {
        let address: SocketAddress
        do {
            address = try await resolverThreads.runIfActive {
                try SocketAddress.makeAddressResolvingHost(target.host, port: target.port)
            }
        } catch {
            throw FetchFailure(.dns, "the host name has no address")
        }
        guard let text = address.ipAddress, rules.allowPrivateAddresses || AddressVetting.isPublic(text) else {
            throw FetchFailure(
                .address,
                "the host's address is not on the public Internet: set network.allow_private_addresses if it should be")
        }
        return text
    }
}

extension FetchFailure {
    /// What a client library's error means to an operator. Only its kind is told: its text could hold anything.
    fileprivate init(describing error: any Error) {
        switch error {
        case let error as HTTPClientError: self.init(describing: error)
        case is HTTPParserError: self.init(.http, "the answer is not HTTP")
        case is NIOConnectionError, is ChannelError, is IOError:
            self.init(.connect, "the connection was refused or broke")
        case is NIOSSLExtraError: self.init(.tls, "the certificate is not for this host")
        case let error as NIOSSLError:
            if case .handshakeFailed = error {
                self.init(
                    .tls, "the TLS handshake failed: is the certificate valid, current, and by a trusted authority?")
            } else {
                self.init(.tls, "TLS failed")
            }
        case is BoringSSLError: self.init(.tls, "TLS failed")
        default: self.init(.http, "the fetch failed")
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
