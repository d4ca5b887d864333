private import Bytes
internal import HTTP
internal import NIOCore
private import NIOHTTP1
internal import NIOSSL
private import OpenSSL
private import Synchronization

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
