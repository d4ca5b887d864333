internal import Host
internal import NIOCore
private import NIOHTTP1
private import NIOSSL
private import OpenSSL
private import OutboundHTTP
private import Synchronization

/// Finds out what is wrong with a server's certificate that was not believed: the TLS library only says that it was not.
///
/// Connects once more and asks for the certificate, without believing it. Nothing is sent or read over that connection.
struct CertificateDiagnosis {
    let host: String
    let address: String
    let port: Int
    let timeout: Interval
    let loop: any EventLoop

    /// What an operator should know; `nil` where nothing was found.
    func reason(unixSeconds now: Int64) async -> String? {
        guard let certificate = await certificate() else { return nil }
        if Int64(certificate.notValidBefore) > now { return "the server's certificate is not yet valid" }
        if Int64(certificate.notValidAfter) < now { return "the server's certificate has expired" }
        let remedy = "name its authority in network.ca_file if it should be believed"
        if let octets = try? certificate.toDERBytes(), Certificate(octets)?.isSelfSigned == true {
            return "the server's certificate is self-signed and not trusted: \(remedy)"
        }
        return
            "the server's certificate is by an authority that is not trusted, or comes without an intermediate: \(remedy)"
    }

    /// For connections that believe anybody; `nil` never.
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

    /// A handshake has some certificates of a few kilobytes each.
    private static let maximumOctets = 256 * 1024
}
