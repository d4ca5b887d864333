internal import Host
internal import NIOCore
private import NIOHTTP1
private import NIOSSL
private import OpenSSL
private import OutboundHTTP
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
    func reason(unixSeconds now: Int64) async -> String? {
        guard let certificate = await certificate() else { return nil }
        if Int64(certificate.notValidBefore) > now { return "the server's certificate is not yet valid" }
        if Int64(certificate.notValidAfter) < now { return "the server's certificate has expired" }
        let remedy = "to trust it, add its CA to network.ca_file"
        if let octets = try? certificate.toDERBytes(), Certificate(octets)?.isSelfSigned == true {
            return "the server's certificate is self-signed and not trusted: \(remedy)"
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
