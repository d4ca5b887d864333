private import AsyncHTTPClient
package import Clocks
package import NIOCore
private import NIOHTTP1
private import NIOHTTPCompression
private import NIOSSL
private import OpenSSL

/// Fetches small documents over HTTP: discovery documents and JWK Sets.
///
/// One short-lived client a fetch, so that nothing is shared between providers and every address is vetted anew. The name is
/// resolved and vetted here and the connection pinned to what was vetted, so that a second answer of the resolver can't lead
/// elsewhere; SNI and the certificate still go by the name.
package struct DocumentFetcher: Sendable {
    private let rules: NetworkRules
    private let proxy: ProxyEnvironment?
    private let loop: any EventLoop
    private let resolver = NameResolver()
    private let unixSeconds: @Sendable () -> Int64
    /// `nil` where nobody looks into the fetches.
    private let trace: FetchTrace?
    private let onExchange: (@Sendable (FetchExchange) -> Void)?

    /// A document and what its headers say of its age.
    package struct Document: Sendable {
        package let body: [UInt8]
        /// Where it was in the end, after redirects: a validator counts there only (RFC 9110, 8.8.3).
        let address: String
        let caching: CachingFields
        /// Whether this is a document known before, which its server has only confirmed.
        package let isConfirmation: Bool
        /// See ``FetchedHeader/clockOffsetSeconds``.
        let clockOffsetSeconds: Int64?

        /// How long it may be kept; `nil` where its server does not say.
        package var lifetime: Interval? { caching.lifetime }
    }

    /// - Parameter onExchange: called with each request that was made, and what became of it, in the task that fetches;
    ///   `nil`: nobody wants to know.
    package init(
        rules: NetworkRules, proxy: ProxyEnvironment?, loop: any EventLoop,
        unixSeconds: @escaping @Sendable () -> Int64, onExchange: (@Sendable (FetchExchange) -> Void)? = nil
    ) {
        self.init(
            rules: rules, proxy: proxy, loop: loop, unixSeconds: unixSeconds, trace: nil, onExchange: onExchange)
    }

    /// - Parameter trace: keeps what is met on the way.
    init(
        rules: NetworkRules, proxy: ProxyEnvironment?, loop: any EventLoop,
        unixSeconds: @escaping @Sendable () -> Int64, trace: FetchTrace?,
        onExchange: (@Sendable (FetchExchange) -> Void)? = nil
    ) {
        self.rules = rules
        self.proxy = proxy
        self.loop = loop
        self.unixSeconds = unixSeconds
        self.trace = trace
        self.onExchange = onExchange
    }

    /// Fetches the document at an address, following at most ``NetworkRules/maximumRedirects``.
    ///
    /// - Parameter known: what the address held last; in the mode `revalidate`, its server may say that it still does.
    /// - Throws: ``FetchFailure``.
    package func fetch(
        _ address: String, _ mode: FetchMode = .reload, known: Document? = nil
    ) async throws(FetchFailure) -> Document {
        let rules = self.rules
        let first = try WebAddress(address, allowingHTTP: rules.allowHTTP)
        let known = mode == .revalidate ? known : nil
        let timeout = FetchFailure(.http, "no complete answer within \(rules.totalTimeout.secondsRoundedUp) s")
        return try await loop.within(rules.totalTimeout, orThrow: timeout) { () async throws(FetchFailure) in
            var target = first
            for redirects in 0...rules.maximumRedirects {
                switch try await self.fetchOnce(target, redirects, mode, known) {
                case .document(let document): return document
                case .redirect(let location):
                    target = try target.redirected(to: location, allowingHTTP: rules.allowHTTP)
                }
            }
            throw FetchFailure(.http, "more than \(rules.maximumRedirects) redirects")
        }
    }

    // MARK: One address

    private enum Answer {
        case document(Document)
        case redirect(to: String)
    }

    /// Fetches from one address, and has it told what came of it.
    private func fetchOnce(
        _ target: WebAddress, _ redirects: Int, _ mode: FetchMode, _ known: Document?
    ) async throws(FetchFailure) -> Answer {
        var status: UInt?
        guard let onExchange else { return try await fetchOnce(target, mode, known, &status) }
        let (startedAt, begun) = (SystemClocks.unixNanoseconds(), loop.now)
        func tell(_ failure: FetchFailure?) {
            onExchange(
                FetchExchange(
                    address: target, redirects: redirects, startedAtUnixNanoseconds: startedAt,
                    nanoseconds: UInt64(max((loop.now - begun).nanoseconds, 0)), status: status, failure: failure))
        }
        do throws(FetchFailure) {
            let answer = try await fetchOnce(target, mode, known, &status)
            tell(nil)
            return answer
        } catch {
            tell(error)
            throw error
        }
    }

    /// - Parameter status: set as soon as there is an answer.
    private func fetchOnce(
        _ target: WebAddress, _ mode: FetchMode, _ known: Document?, _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        if target.isSecure, let proxy, proxy.applies(to: target.host) {
            // The proxy resolves the name; what it may reach is its operator's to say.
            trace?.note(.proxied(host: target.host))
            let configuration = configuration { configuration in
                configuration.proxy = .server(
                    host: proxy.host, port: proxy.port,
                    authorization: proxy.credentials.map { .basic(username: $0.user, password: $0.password) })
            }
            return try await exchange(target, mode, known, configuration, &status)
        }
        var lastFailure = FetchFailure(.connect, "no address could be connected to")
        for address in try await vettedAddresses(of: target) {
            do throws(FetchFailure) {
                let pinned = configuration { $0.dnsOverride = [target.host: address] }
                return try await exchange(target, mode, known, pinned, &status)
            } catch {
                if error.isUntrustedCertificate { throw await diagnosis(of: error, target, address) }
                // Another of the host's addresses may do better.
                guard error.phase == .connect else { throw error }
                lastFailure = error
            }
        }
        throw lastFailure
    }

    /// The first addresses of a host that a fetch may connect to.
    private func vettedAddresses(of target: WebAddress) async throws(FetchFailure) -> [String] {
        let timeout = FetchFailure(
            .dns, "the host name was not resolved within \(rules.nameTimeout.secondsRoundedUp) s")
        let all = try await loop.within(rules.nameTimeout, orThrow: timeout) { () async throws(FetchFailure) in
            try await self.resolver.addresses(of: target.host)
        }
        let allowed = all.filter(rules.allows)
        trace?.note(.resolved(host: target.host, allowed: allowed, refused: all.filter { !rules.allows($0) }))
        guard !allowed.isEmpty else {
            throw FetchFailure(
                .address,
                "the host's address is not on the public Internet: name it in network.allow_addresses if it should be used"
            )
        }
        return Array(Self.alternating(allowed).prefix(rules.maximumAddresses))
    }

    /// The addresses of the two families by turns, each in its order (RFC 8305, 4): where one family leads nowhere, the other
    /// must be reached before time is up.
    private static func alternating(_ addresses: [String]) -> [String] {
        let first = addresses.filter { AddressVetting.isIPv6($0) == AddressVetting.isIPv6(addresses[0]) }
        let second = addresses.filter { !first.contains($0) }
        return (0..<max(first.count, second.count)).flatMap { index in
            [first, second].compactMap { index < $0.count ? $0[index] : nil }
        }
    }

    /// Why a certificate was not believed.
    private func diagnosis(
        of failure: FetchFailure, _ target: WebAddress, _ address: String
    ) async -> FetchFailure {
        let diagnosis = CertificateDiagnosis(
            host: target.host, address: address, port: target.port, timeout: rules.connectTimeout, loop: loop)
        return await diagnosis.reason(unixSeconds: unixSeconds()).map { FetchFailure(.tls, $0) } ?? failure
    }

    // MARK: One exchange

    private func configuration(
        _ change: (inout HTTPClient.Configuration) -> Void
    ) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let caFile = rules.caFile { tls.additionalTrustRoots = [.file(caFile)] }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            decompression: .enabled(limit: .size(rules.maximumBody)))
        configuration.httpVersion = .http1Only
        // Else a refused connection and a bad certificate are tried again until the connect time-out.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .milliseconds(rules.connectTimeout.milliseconds)
        configuration.timeout.read = .milliseconds(rules.idleTimeout.milliseconds)
        let limit = rules.maximumBody + rules.maximumOverhead
        // Nothing else of the library's lets us see the certificate, or the bytes before they are decoded.
        configuration.http1_1ConnectionDebugInitializer = { [trace] channel in
            channel.eventLoop.makeCompletedFuture {
                try Self.checkCertificate(of: channel, trace)
                try channel.pipeline.syncOperations.addHandler(ByteLimitHandler(limit), position: .first)
            }
        }
        change(&configuration)
        return configuration
    }

    /// What the TLS library lets pass: a certificate that someone else than its authority could have made.
    private static func checkCertificate(of channel: any Channel, _ trace: FetchTrace?) throws {
        guard let tls = try? channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self) else { return }
        if let end = tls.peerCertificate?.notValidAfter { trace?.note(.secured(expiresAtUnixSeconds: Int64(end))) }
        guard let octets = try tls.peerCertificate?.toDERBytes(), let certificate = Certificate(octets) else { return }
        if certificate.hasWeakSignature {
            throw FetchFailure(.tls, "the server's certificate is signed with SHA-1 or weaker, which can be forged")
        }
    }

    private func exchange(
        _ target: WebAddress, _ mode: FetchMode, _ known: Document?, _ configuration: HTTPClient.Configuration,
        _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        let client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: configuration)
        let answer: Result<Answer, FetchFailure>
        do throws(FetchFailure) {
            answer = .success(try await exchange(target, mode, known, client, &status))
        } catch {
            answer = .failure(error)
        }
        // Nothing of the answer depends on how the client goes down.
        try? await client.shutdown()
        return try answer.get()
    }

    private func exchange(
        _ target: WebAddress, _ mode: FetchMode, _ known: Document?, _ client: HTTPClient, _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        var request = HTTPClientRequest(url: target.text)
        request.headers = ["Accept": "application/json", "User-Agent": "assay"]
        if mode == .reload { request.headers.add(name: "Cache-Control", value: "no-cache") }
        let conditions = known?.address == target.text ? known?.caching.conditions : nil
        if let conditions { request.headers.add(contentsOf: conditions) }
        do {
            let askedAt = unixSeconds()
            let response = try await client.execute(
                request, deadline: .now() + .milliseconds(rules.totalTimeout.milliseconds))
            status = response.status.code
            let caching = CachingFields(response.headers)
            let header = FetchedHeader(caching, askedFor: askedAt...max(askedAt, unixSeconds()))
            trace?.note(.answered(header))
            if response.status == .notModified, let known, conditions != nil {
                return .document(
                    Document(
                        body: known.body, address: known.address, caching: known.caching.updated(with: caching),
                        isConfirmation: true, clockOffsetSeconds: header.clockOffsetSeconds))
            }
            switch response.status.code {
            case 200: break
            case 301, 302, 303, 307, 308:
                guard let location = response.headers.first(name: "Location") else {
                    throw FetchFailure(.http, "the server answered with status \(response.status.code) and no location")
                }
                return .redirect(to: location)
            default: throw FetchFailure(describing: response)
            }
            try checkEncoding(response.headers)
            return .document(
                Document(
                    body: try await body(of: response), address: target.text, caching: caching, isConfirmation: false,
                    clockOffsetSeconds: header.clockOffsetSeconds))
        } catch let failure as FetchFailure {
            throw failure
        } catch {
            throw FetchFailure(describing: error, maximumBody: rules.maximumBody)
        }
    }

    private func checkEncoding(_ headers: HTTPHeaders) throws(FetchFailure) {
        let encodings = headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
        // What the client library unpacks, and only once.
        guard encodings.isEmpty || (encodings.count == 1 && ["identity", "gzip", "deflate"].contains(encodings[0]))
        else { throw FetchFailure(.http, "the body is encoded in a way that was not asked for") }
    }

    private func body(of response: HTTPClientResponse) async throws -> [UInt8] {
        var body: [UInt8] = []
        let begun = loop.now
        for try await chunk in response.body {
            guard body.count + chunk.readableBytes <= rules.maximumBody else {
                throw FetchFailure(tooLarge: rules.maximumBody)
            }
            body.append(contentsOf: chunk.readableBytesView)
            let milliseconds = (loop.now - begun).nanoseconds / 1_000_000
            guard
                milliseconds < rules.minimumRateAfter.milliseconds
                    || Int64(body.count) * 1000 >= rules.minimumRate * milliseconds
            else { throw FetchFailure(.http, "the body comes more slowly than \(rules.minimumRate) bytes a second") }
        }
        return body
    }
}
