package import HTTP
package import NIOCore
private import NIOSSL
private import OpenSSL

/// Opens connections to one provider's hosts, by its network rules.
///
/// It resolves and vets a host's addresses, and connects only to a vetted address, so that a second DNS response can't
/// lead elsewhere. SNI and the certificate check still use the name. All dialers share what is expensive: the threads
/// that resolve names, and the trusted certificates (``TrustStore``).
package struct ProviderDialer: Sendable {
    let rules: NetworkRules
    private let proxy: ProxyEnvironment?
    let loop: any EventLoop
    let unixSeconds: @Sendable () -> Int64
    /// Records the events of fetches; `nil` unless someone inspects them.
    var trace: FetchTrace?

    /// Read the files of CA certificates, away from the threads that wait for name servers.
    private static let trustStores = BlockingCalls<Trust, TrustStore>(threads: 2)
    private static let authorities = BlockingCalls<String, [NIOSSLCertificate]>(threads: 1)

    /// What a connection's TLS context depends on.
    private struct Trust: Hashable {
        let caFile: String?
        let certificate: TLSIdentity?
    }

    package init(
        rules: NetworkRules, proxy: ProxyEnvironment?, loop: any EventLoop, unixSeconds: @escaping @Sendable () -> Int64
    ) {
        self.rules = rules
        self.proxy = proxy
        self.loop = loop
        self.unixSeconds = unixSeconds
    }

    /// Opens a connection to the first address that works. If this fails, no part of a request was sent.
    ///
    /// - Parameter certificate: that the connection presents if the server asks for one; `nil` for none.
    /// - Throws: ``FetchFailure``.
    package func dial(
        _ target: FetchURL, presenting certificate: TLSIdentity? = nil
    ) async throws(FetchFailure) -> ClientConnection {
        let tls = try await tls(for: target, presenting: certificate)
        var last = FetchFailure.noAddress
        for destination in try await destinations(of: target) {
            let dialer = HTTPDialer(
                to: destination, tls: tls, timeout: rules.connectTimeout, maximumOctets: rules.maximumOverhead)
            do throws(HTTPExchangeError) {
                return try await dialer.dial(on: loop)
            } catch {
                last = FetchFailure(describing: error, isSecure: target.isSecure)
                last = await diagnosis(of: last, target, destination)
            }
        }
        throw last
    }

    /// Where to connect for a URL: the tunnel through the proxy, or the first vetted addresses of the host.
    ///
    /// - Throws: ``FetchFailure``.
    func destinations(of target: FetchURL) async throws(FetchFailure) -> [HTTPExchange.Destination] {
        guard target.isSecure, let proxy, proxy.applies(to: target.host, port: target.port) else {
            return try await vettedAddresses(of: target).map { .address($0, port: target.port) }
        }
        // The proxy resolves the name; its operator decides what it may reach.
        trace?.record(.proxied(host: target.host))
        let tunnel = HTTPExchange.Tunnel(
            through: (proxy.host, proxy.port), to: (target.host, target.port),
            authorization: proxy.credentials?.basicAuthorization)
        return [.tunnel(tunnel)]
    }

    /// The first addresses of a host to which a fetch may connect.
    private func vettedAddresses(of target: FetchURL) async throws(FetchFailure) -> [String] {
        let timeout = FetchFailure(
            .dns, "the host name was not resolved within \(rules.nameTimeout.secondsRoundedUp) s")
        let all = try await loop.withTimeout(rules.nameTimeout, orThrow: timeout) { () async throws(FetchFailure) in
            try await NameResolver.shared.addresses(
                of: target.host, for: rules.isOfManyIssuers ? .manyIssuers : .singleIssuer)
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

    /// The TLS parameters for a target; `nil` for plain HTTP.
    ///
    /// - Throws: ``FetchFailure``.
    func tls(
        for target: FetchURL, presenting certificate: TLSIdentity? = nil
    ) async throws(FetchFailure) -> HTTPExchange.TLS? {
        guard target.isSecure else { return nil }
        let store: TrustStore
        do {
            let trust = Trust(caFile: rules.caFile, certificate: certificate)
            store = try await Self.trustStores.run(for: trust) {
                try TrustStore.current(caFile: trust.caFile, presenting: trust.certificate)
            }
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

    /// Whether to accept a certificate. Rejects weak signatures, which the TLS library does not check.
    private static func accepts(_ peer: NIOSSLCertificate?, _ trace: FetchTrace?) -> Bool {
        if let end = peer?.notValidAfter { trace?.record(.secured(expiresAtUnixSeconds: Int64(end))) }
        guard let peer, let octets = try? peer.toDERBytes() else { return false }
        return Certificate(octets)?.hasWeakSignature != true
    }

    /// Why a certificate was rejected; the failure itself, if that can't be found out, or if it has another reason.
    func diagnosis(
        of failure: FetchFailure, _ target: FetchURL, _ destination: HTTPExchange.Destination
    ) async -> FetchFailure {
        guard let fault = failure.certificateFault, case .address(let address, _) = destination else { return failure }
        let diagnosis = CertificateDiagnosis(
            host: target.host, address: address, port: target.port, timeout: rules.connectTimeout, loop: loop)
        var authorities: [NIOSSLCertificate] = []
        if let file = rules.caFile {
            authorities =
                (try? await Self.authorities.run(for: file) { try NIOSSLCertificate.fromPEMFile(file) }) ?? []
        }
        return await diagnosis.reason(for: fault, trusting: authorities, unixSeconds: unixSeconds())
            .map { FetchFailure(.tls, $0) } ?? failure
    }
}

extension FetchFailure {
    static let noAddress = FetchFailure(.connect, "could not connect to any address")
}
