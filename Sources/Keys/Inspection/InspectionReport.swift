private import Bytes
internal import HTTP
internal import JOSE
internal import NIOCore
private import NIOHTTP1
internal import NIOSSL
private import OpenSSL
private import Synchronization

/// Turns the events of an inspection into findings.
struct InspectionReport {
    private(set) var findings: [Finding] = []
    private var headers: [FetchedHeader] = []
    private let unixSeconds: Int64

    /// A larger clock difference deserves a warning, because clocks drift further.
    private static let usualClockOffset: Int64 = 5
    /// A certificate that expires sooner should have been renewed.
    private static let soonSeconds: Int64 = 7 * 86400

    init(unixSeconds: Int64) { self.unixSeconds = unixSeconds }

    /// Adds a finding unless it is a duplicate: two documents are often on one host.
    mutating func add(_ subject: Finding.Subject, _ level: Finding.Level, _ message: String) {
        let finding = Finding(subject, level, message)
        if !findings.contains(finding) { findings.append(finding) }
    }

    // MARK: Fetches

    mutating func add(_ events: [FetchEvent], fetchedFrom address: String) {
        for event in events {
            switch event {
            case .resolved(let host, let allowed, let refused):
                let (host, passedOver) = (Self.quoted(host), refused.joined(separator: ", "))
                if !allowed.isEmpty { add(.dns, .ok, "\(host) is at \(allowed.joined(separator: ", "))") }
                if !refused.isEmpty {
                    add(
                        .dns, allowed.isEmpty ? .failure : .warning,
                        "\(host) is at \(passedOver), which is not on the public Internet and is therefore refused")
                }
            case .proxied(let host):
                add(.dns, .ok, "\(Self.quoted(host)) is resolved by the proxy that HTTPS_PROXY names")
            case .secured(let end): addCertificate(expiringAt: end)
            case .answered(let header): headers.append(header)
            }
        }
        if address.hasPrefix("http://") {
            add(.tls, .warning, "keys are fetched without TLS (network.allow_http): for tests only")
        }
    }

    private mutating func addCertificate(expiringAt end: Int64) {
        let date = Timestamp.text(unixMilliseconds: end * 1000).prefix(10)
        let left = end - unixSeconds
        let text = "the certificate is trusted, and valid until \(date), \(left / 86400) more days"
        add(.tls, left < Self.soonSeconds ? .warning : .ok, text)
    }

    /// - Parameters:
    ///   - address: the URL that was fetched; `nil` if the fetch succeeded but the contents are wrong.
    ///   - hasResolved: whether the URL's host was resolved. If not, an error of phase `address` is in the URL itself.
    mutating func add(
        _ failure: FetchFailure, on subject: Finding.Subject, from address: String? = nil, hasResolved: Bool = false
    ) {
        let step: Finding.Subject =
            switch failure.phase {
            case .address where !hasResolved: subject
            case .dns, .address: .dns
            case .connect: .connection
            case .tls: .tls
            case .http, .parse: subject
            case .file: .file
            }
        let document = subject == .discovery ? "the discovery document" : "the key set"
        let place = address.map { " at \(Self.quoted($0))" } ?? ""
        add(step, .failure, "\(document)\(place): \(failure.message)")
    }

    // MARK: Discovery

    mutating func add(_ metadata: ProviderMetadata, _ allowed: SignatureAlgorithms, allowsHTTP: Bool) {
        add(
            .discovery, .ok,
            "the document has the configured issuer; keys are at \(Self.quoted(metadata.jwksURI))")
        if !allowsHTTP, metadata.jwksURI.hasPrefix("http://") {
            add(.discovery, .failure, "the document has an http URL for its keys: \(Self.proxyUnknown)")
        }
        if !metadata.unsafeAlgorithms.isEmpty {
            let names = metadata.unsafeAlgorithms.joined(separator: ", ")
            add(
                .discovery, metadata.unsafeAlgorithms.contains("none") ? .warning : .ok,
                """
                the document offers \(names) for ID Tokens: such tokens are always refused. Set your client up at the \
                provider to get them signed with RS256 or ES256
                """)
        }
        if allowed.isEmpty {
            add(
                .discovery, .failure,
                "the document lists no algorithm that is supported (id_token_signing_alg_values_supported)")
        }
    }

    /// Adds a rejected discovery document; if it names another issuer, the finding shows both.
    mutating func addRefusal(
        _ failure: FetchFailure, ofDiscovery document: [UInt8], configuredIssuer: String
    ) {
        guard let claimed = ProviderMetadata.issuer(in: document), !claimed.utf8.elementsEqual(configuredIssuer.utf8)
        else { return add(failure, on: .discovery) }
        if claimed.hasPrefix("http://"), configuredIssuer == "https://" + claimed.dropFirst("http://".count) {
            return add(
                .discovery, .failure, "the document names the issuer \(Self.quoted(claimed)): \(Self.proxyUnknown)")
        }
        add(
            .discovery, .failure,
            """
            the document names the issuer \(Self.quoted(claimed)), the settings say \(Self.quoted(configuredIssuer)); \
            they are compared byte for byte. If tokens carry the first as iss, write issuer: \(Self.quoted(claimed)); if \
            they carry the second, this is another provider's document: set discovery_url or jwks_uri
            """)
    }

    // MARK: Keys

    mutating func addKeys(_ entries: [JWKSet.Entry], _ allowed: SignatureAlgorithms) {
        var usable = 0
        var algorithms: SignatureAlgorithms = []
        for (index, entry) in entries.enumerated() {
            let name = entry.keyID.map { "the key \(Self.quoted($0))" } ?? "key \(index + 1), which has no kid,"
            if let flaw = entry.flaw {
                add(.keys, .warning, "\(name) can't be used: \(flaw)")
            } else if entry.algorithms.intersection(allowed).isEmpty {
                add(.keys, .warning, "\(name) matches no allowed algorithm (\(Self.list(allowed)))")
            } else {
                usable += 1
                algorithms.formUnion(entry.algorithms.intersection(allowed))
            }
        }
        guard !entries.isEmpty else { return }
        guard usable > 0 else {
            return add(.keys, .failure, "none of \(entries.count) keys can verify a token")
        }
        add(.keys, .ok, "\(usable) of \(entries.count) keys can verify tokens: \(Self.list(algorithms))")
    }

    /// Adds the lifetime that the last response states, and the one that applies.
    mutating func addFreshness(_ stated: Interval?) {
        let rules = KeyRules()
        let lifetime = rules.lifetime(stated)
        let said = headers.last?.cacheControl.map { "Cache-Control: \(Self.quoted($0))" } ?? "there is no Cache-Control"
        let meaning =
            switch stated {
            case nil:
                "the response does not say how long to cache the keys, so they are cached for \(Self.text(lifetime))"
            case lifetime?: "the keys are cached for \(Self.text(lifetime))"
            case let stated?: "the remaining lifetime of \(Self.text(stated)) is treated as \(Self.text(lifetime))"
            }
        let earliest = Self.text(lifetime * rules.refreshAhead.lowerBound)
        let latest = Self.text(lifetime * rules.refreshAhead.upperBound)
        add(.freshness, .ok, "\(said); \(meaning), and fetched again after \(earliest) to \(latest)")
    }

    // MARK: Clocks

    /// Compares the servers' clocks with ours.
    mutating func addClock(clockSkewSeconds: Int64) {
        guard !headers.isEmpty else { return }
        guard let offset = headers.compactMap(\.clockOffsetSeconds).max(by: { abs($0) < abs($1) }) else {
            return add(.clock, .warning, "no response has a Date, so the clocks can't be compared")
        }
        let difference = "the provider's clock is \(abs(offset)) s \(offset < 0 ? "behind" : "ahead of") this machine's"
        if abs(offset) > clockSkewSeconds {
            let skew =
                "more than clock_skew allows (\(clockSkewSeconds) s): valid tokens will be refused; set the clock"
            add(.clock, .failure, "\(difference), \(skew)")
        } else if abs(offset) > Self.usualClockOffset {
            add(.clock, .warning, "\(difference), within clock_skew (\(clockSkewSeconds) s)")
        } else {
            add(.clock, .ok, offset == 0 ? "the provider's clock and this machine's agree" : difference)
        }
    }

    // MARK: Texts

    private static let proxyUnknown =
        "the provider does not know that its clients use https, probably because a TLS proxy is in front of it. Set its public URL to https there, or have it trust the proxy's X-Forwarded-Proto; its tokens must have the https issuer too"

    private static func quoted(_ text: String) -> String { text.quotedASCII(maximumLength: 300) }

    private static func list(_ algorithms: SignatureAlgorithms) -> String {
        algorithms.names.joined(separator: ", ")
    }

    private static func text(_ interval: Interval) -> String {
        let seconds = interval.secondsRoundedUp
        if seconds > 0, seconds % 3600 == 0 { return "\(seconds / 3600) h" }
        if seconds > 0, seconds % 60 == 0 { return "\(seconds / 60) min" }
        return "\(seconds) s"
    }
}

/// A finding about a provider, for operators.
package struct Finding: Sendable, Equatable {
    package let subject: Subject
    package let level: Level
    /// The text comes from this code; parts of a provider's response are quoted as printable ASCII.
    package let message: String

    package enum Subject: String, Sendable, CaseIterable {
        case dns, connection, tls, discovery, keys, freshness, clock, file, clients
    }

    package init(_ subject: Subject, _ level: Level, _ message: String) {
        self.subject = subject
        self.level = level
        self.message = message
    }

    package enum Level: String, Sendable, CaseIterable {
        case ok
        /// The provider can be used, but the operator should know.
        case warning
        /// The provider can't be used.
        case failure
    }
}

/// Finds out why a server's certificate was rejected, because the TLS library does not say.
///
/// Connects once more and accepts any certificate, only to inspect it. Nothing is sent or read over that connection.
struct CertificateDiagnosis {
    let host: String
    let address: String
    let port: Int
    let timeout: Interval
    let loop: any EventLoop

    /// The reason for operators; `nil` if none was found.
    ///
    /// - Parameter authorities: the certificates in `network.ca_file`.
    func reason(
        for fault: FetchFailure.CertificateFault, trusting authorities: [NIOSSLCertificate], unixSeconds now: Int64
    ) async -> String? {
        guard let certificate = await certificate() else { return nil }
        switch fault {
        case .untrusted: return Self.distrust(of: certificate, authorities, now)
        case .forAnotherHost: return Self.names(of: certificate)
        }
    }

    private static func names(of certificate: NIOSSLCertificate) -> String {
        let names = certificate._subjectAlternativeNames().compactMap { name -> String? in
            switch name.nameType {
            case .dnsName: String(decoding: name.contents, as: UTF8.self).quotedASCII(maximumLength: 253)
            case .ipAddress where name.contents.count == 4: name.contents.map(String.init).joined(separator: ".")
            case .ipAddress: "an IPv6 address"
            default: nil
            }
        }
        guard !names.isEmpty else {
            let octets = (try? certificate.toDERBytes()) ?? []
            let commonName = Certificate(octets)?.commonName?.quotedASCII(maximumLength: 64) ?? "absent"
            return
                "the certificate is not for this host: it has no names in subjectAltName, and its common name is \(commonName)"
        }
        let shown = names.prefix(maximumNames).joined(separator: ", ") + (names.count > maximumNames ? ", …" : "")
        return "the certificate is not for this host, but for \(shown)"
    }

    private static let maximumNames = 10

    private static func distrust(
        of certificate: NIOSSLCertificate, _ authorities: [NIOSSLCertificate], _ now: Int64
    ) -> String {
        if Int64(certificate.notValidBefore) > now { return "the server's certificate is not yet valid" }
        if Int64(certificate.notValidAfter) < now { return "the server's certificate has expired" }
        let remedy = "to trust it, add its CA to network.ca_file"
        if let octets = try? certificate.toDERBytes(), let certificate = Certificate(octets) {
            if certificate.isSelfSigned { return "the server's certificate is self-signed and not trusted: \(remedy)" }
            let issuers = authorities.compactMap { try? $0.toDERBytes() }.filter { octets in
                guard let authority = Certificate(octets), !authority.isSelfSigned else { return false }
                return certificate.names(asIssuer: authority)
            }
            if !issuers.isEmpty {
                return
                    "the CA of the server's certificate is in network.ca_file, but it is an intermediate CA, which is not trusted by itself: add its root CA, or, if that is there, check that both are valid now"
            }
        }
        return
            "the server's certificate is from an untrusted CA, or lacks an intermediate certificate: \(remedy)"
    }

    /// A TLS context without certificate verification. It is never `nil` in practice.
    private static let context: NIOSSLContext? = {
        var configuration = TLSConfiguration.forExchanges
        configuration.certificateVerification = .none
        return try? NIOSSLContext(configuration: configuration)
    }()

    private func certificate() async -> NIOSSLCertificate? {
        guard let context = Self.context else { return nil }
        let seen = Mutex<NIOSSLCertificate?>(nil)
        let tls = HTTPExchange.TLS(context: context, host: host) { certificate in
            seen.withLock { $0 = certificate }
            // Ends the exchange before anything is sent.
            return false
        }
        let exchange = HTTPExchange(
            to: .address(address, port: port), tls: tls,
            head: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"),
            limits: HTTPExchange.Limits(
                connectTimeout: timeout, idleTimeout: timeout, maximumBody: 0, maximumOverhead: Self.maximumOctets))
        _ = await exchange.perform(on: loop)
        return seen.withLock { $0 }
    }

    /// A handshake contains a few certificates of a few kilobytes each.
    private static let maximumOctets = 256 * 1024
}
