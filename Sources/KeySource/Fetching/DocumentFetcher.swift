package import Host
package import NIOCore
private import NIOHTTP1
private import NIOSSL
private import OpenSSL
private import OutboundHTTP
private import Synchronization

/// Fetches small documents over HTTP: discovery documents and JWK Sets.
///
/// Each request has its own connection, which is closed when it ends. Nothing is kept between fetches except the
/// trusted certificates (``TrustStore``). The fetcher resolves and vets the host's addresses, and connects only to a
/// vetted address, so that a second DNS response can't lead elsewhere. SNI and the certificate check still use the
/// name.
package struct DocumentFetcher: Sendable {
    private let rules: NetworkRules
    private let proxy: ProxyEnvironment?
    private let loop: any EventLoop
    private let blocking: BlockingCalls
    private let resolver: NameResolver
    private let trustStores: TrustStoreCache
    private let unixSeconds: @Sendable () -> Int64
    /// Records the events of fetches; `nil` unless someone inspects them.
    var trace: FetchTrace?
    private let onExchange: (@Sendable (FetchExchange) -> Void)?

    /// A document with its caching information.
    package struct Document: Sendable {
        package let body: [UInt8]
        /// The final URL, after redirects: a validator is valid only there (RFC 9110, section 8.8.3).
        let address: String
        let caching: CachingFields
        /// Whether the server confirmed a known document instead of sending it (304 Not Modified).
        package let isNotModified: Bool
        /// See ``FetchedHeader/clockOffsetSeconds``.
        let clockOffsetSeconds: Int64?

        /// How long it may be cached; `nil` if its server does not say.
        package var lifetime: Interval? { caching.lifetime }
    }

    /// - Parameter onExchange: called with each request and its outcome, in the task that fetches; `nil` for no report.
    package init(
        rules: NetworkRules, proxy: ProxyEnvironment?, loop: any EventLoop,
        unixSeconds: @escaping @Sendable () -> Int64, onExchange: (@Sendable (FetchExchange) -> Void)? = nil
    ) {
        self.rules = rules
        self.proxy = proxy
        self.loop = loop
        blocking = BlockingCalls()
        resolver = NameResolver(on: blocking)
        trustStores = TrustStoreCache(caFile: rules.caFile)
        self.unixSeconds = unixSeconds
        self.onExchange = onExchange
    }

    /// Fetches the document at a URL, following at most ``NetworkRules/maximumRedirects``.
    ///
    /// - Parameter known: the last document from this URL. In mode `revalidate`, the server may confirm it.
    /// - Throws: ``FetchFailure``.
    package func fetch(
        _ address: String, _ mode: FetchMode = .reload, known: Document? = nil
    ) async throws(FetchFailure) -> Document {
        let rules = self.rules
        let first = try FetchURL(address, allowingHTTP: rules.allowHTTP)
        let known = mode == .revalidate ? known : nil
        let timeout = FetchFailure(.http, "no complete response within \(rules.totalTimeout.secondsRoundedUp) s")
        return try await loop.withTimeout(rules.totalTimeout, orThrow: timeout) { () async throws(FetchFailure) in
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

    /// Fetches from one URL, and reports the exchange.
    private func fetchOnce(
        _ target: FetchURL, _ redirects: Int, _ mode: FetchMode, _ known: Document?
    ) async throws(FetchFailure) -> Answer {
        var status: UInt?
        guard let onExchange else { return try await fetchOnce(target, mode, known, &status) }
        let (startedAt, begun) = (SystemClocks.unixNanoseconds(), loop.now)
        func report(_ failure: FetchFailure?) {
            onExchange(
                FetchExchange(
                    address: target, redirects: redirects, startedAtUnixNanoseconds: startedAt,
                    nanoseconds: UInt64(max((loop.now - begun).nanoseconds, 0)), status: status, failure: failure))
        }
        do throws(FetchFailure) {
            let answer = try await fetchOnce(target, mode, known, &status)
            report(nil)
            return answer
        } catch {
            report(error)
            throw error
        }
    }

    /// - Parameter status: set as soon as there is a response.
    private func fetchOnce(
        _ target: FetchURL, _ mode: FetchMode, _ known: Document?, _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        if target.isSecure, let proxy, proxy.applies(to: target.host) {
            // The proxy resolves the name; its operator decides what it may reach.
            trace?.record(.proxied(host: target.host))
            let tunnel = HTTPExchange.Tunnel(
                through: (proxy.host, proxy.port), to: (target.host, target.port),
                authorization: proxy.credentials?.basicAuthorization)
            return try await exchange(target, mode, known, .tunnel(tunnel), &status)
        }
        var lastFailure = FetchFailure(.connect, "could not connect to any address")
        for address in try await vettedAddresses(of: target) {
            do throws(FetchFailure) {
                let pinned = HTTPExchange.Destination.address(address, port: target.port)
                return try await exchange(target, mode, known, pinned, &status)
            } catch {
                if error.isUntrustedCertificate { throw await diagnosis(of: error, target, address) }
                // Another address of the host may work.
                guard error.phase == .connect else { throw error }
                lastFailure = error
            }
        }
        throw lastFailure
    }

    /// The first addresses of a host to which a fetch may connect.
    private func vettedAddresses(of target: FetchURL) async throws(FetchFailure) -> [String] {
        let timeout = FetchFailure(
            .dns, "the host name was not resolved within \(rules.nameTimeout.secondsRoundedUp) s")
        let all = try await loop.withTimeout(rules.nameTimeout, orThrow: timeout) { () async throws(FetchFailure) in
            try await self.resolver.addresses(of: target.host)
        }
        let allowed = all.filter(rules.allows)
        trace?.record(.resolved(host: target.host, allowed: allowed, refused: all.filter { !rules.allows($0) }))
        guard !allowed.isEmpty else {
            throw FetchFailure(
                .address,
                "the host's address is not on the public Internet; to use it, list it in network.allow_addresses"
            )
        }
        return Array(Self.alternating(allowed).prefix(rules.maximumAddresses))
    }

    /// The addresses of both families alternately, each family in its order (RFC 8305, section 4): if one family is
    /// unreachable, the other must be tried before the timeout.
    private static func alternating(_ addresses: [String]) -> [String] {
        let first = addresses.filter { AddressVetting.isIPv6($0) == AddressVetting.isIPv6(addresses[0]) }
        let second = addresses.filter { !first.contains($0) }
        return (0..<max(first.count, second.count)).flatMap { index in
            [first, second].compactMap { index < $0.count ? $0[index] : nil }
        }
    }

    /// Why a certificate was rejected.
    private func diagnosis(
        of failure: FetchFailure, _ target: FetchURL, _ address: String
    ) async -> FetchFailure {
        let diagnosis = CertificateDiagnosis(
            host: target.host, address: address, port: target.port, timeout: rules.connectTimeout, loop: loop)
        return await diagnosis.reason(unixSeconds: unixSeconds()).map { FetchFailure(.tls, $0) } ?? failure
    }

    // MARK: One exchange

    private func exchange(
        _ target: FetchURL, _ mode: FetchMode, _ known: Document?, _ destination: HTTPExchange.Destination,
        _ status: inout UInt?
    ) async throws(FetchFailure) -> Answer {
        let conditions = known?.address == target.text ? known?.caching.conditions : nil
        var exchange = HTTPExchange(
            to: destination, tls: try await tls(for: target), head: request(target, mode, conditions), limits: limits)
        exchange.decompresses = true
        let answeredAt = Mutex<Int64?>(nil)
        exchange.readsBody = { [unixSeconds] head in
            answeredAt.withLock { $0 = unixSeconds() }
            return head.status == .ok && Self.isReadable(head.headers)
        }
        let askedAt = unixSeconds()
        let answer = await exchange.perform(on: loop)
        guard let head = answer.head else { throw FetchFailure(describing: answer, isSecure: target.isSecure) }
        status = head.status.code
        let caching = CachingFields(head.headers)
        let header = FetchedHeader(caching, askedFor: askedAt...max(askedAt, answeredAt.withLock { $0 } ?? askedAt))
        trace?.record(.answered(header))
        switch head.status.code {
        case 200: break
        case 301, 302, 303, 307, 308:
            guard let location = head.headers.first(name: "Location") else {
                throw FetchFailure(.http, "the server answered with status \(head.status.code) and no location")
            }
            return .redirect(to: location)
        default:
            guard head.status == .notModified, let known, conditions != nil else {
                throw FetchFailure(describing: head, isSecure: target.isSecure)
            }
            return .document(
                Document(
                    body: known.body, address: known.address, caching: known.caching.updated(with: caching),
                    isNotModified: true, clockOffsetSeconds: header.clockOffsetSeconds))
        }
        guard Self.isReadable(head.headers) else {
            throw FetchFailure(.http, "the body has a Content-Encoding that was not requested")
        }
        guard case .success(let body) = answer.body else {
            throw FetchFailure(describing: answer, isSecure: target.isSecure)
        }
        return .document(
            Document(
                body: body, address: target.text, caching: caching, isNotModified: false,
                clockOffsetSeconds: header.clockOffsetSeconds))
    }

    private func request(_ target: FetchURL, _ mode: FetchMode, _ conditions: HTTPHeaders?) -> HTTPRequestHead {
        var headers: HTTPHeaders = [
            "Host": target.authority, "Accept": "application/json", "User-Agent": "assay",
        ]
        if mode == .reload { headers.add(name: "Cache-Control", value: "no-cache") }
        if let conditions { headers.add(contentsOf: conditions) }
        return HTTPRequestHead(version: .http1_1, method: .GET, uri: target.requestTarget, headers: headers)
    }

    private var limits: HTTPExchange.Limits {
        HTTPExchange.Limits(
            connectTimeout: rules.connectTimeout, idleTimeout: rules.idleTimeout, maximumBody: rules.maximumBody,
            maximumOverhead: rules.maximumOverhead,
            minimumRate: (rules.minimumRate, after: rules.minimumRateAfter))
    }

    /// The TLS parameters for a target; `nil` for plain HTTP.
    private func tls(for target: FetchURL) async throws(FetchFailure) -> HTTPExchange.TLS? {
        guard target.isSecure else { return nil }
        let store: TrustStore
        do {
            store = try await blocking.run { [trustStores] in try trustStores.current() }
        } catch {
            throw FetchFailure(
                .tls,
                rules.caFile == nil
                    ? "the system's certificate authorities can't be read"
                    : "network.ca_file can't be read, or contains no PEM certificate")
        }
        return HTTPExchange.TLS(context: store.context, host: target.host) { [trace] certificate in
            Self.accepts(certificate, trace)
        }
    }

    /// Whether a certificate has a signature that can't be forged, which the TLS library does not check.
    private static func accepts(_ peer: NIOSSLCertificate?, _ trace: FetchTrace?) -> Bool {
        if let end = peer?.notValidAfter { trace?.record(.secured(expiresAtUnixSeconds: Int64(end))) }
        guard let peer, let octets = try? peer.toDERBytes() else { return false }
        return Certificate(octets)?.hasWeakSignature != true
    }

    /// Whether a body has no content coding, or exactly one that was requested.
    private static func isReadable(_ headers: HTTPHeaders) -> Bool {
        let encodings = headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
        return encodings.isEmpty || (encodings.count == 1 && ["identity", "gzip", "deflate"].contains(encodings[0]))
    }
}
