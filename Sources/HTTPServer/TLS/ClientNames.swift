internal import NIOSSL
private import OpenSSL

/// The names in a client's certificate, which an authority has vouched for.
struct ClientNames {
    /// URIs of the subject alternative name (RFC 5280, section 4.2.1.6); a SPIFFE id is one.
    private var uris: [String] = []
    private var hosts: [String] = []
    private let certificate: NIOSSLCertificate

    /// A name is shown to this length, in octets.
    private static let shownLength = 128

    init(_ certificate: NIOSSLCertificate) {
        self.certificate = certificate
        for name in certificate._subjectAlternativeNames() {
            switch name.nameType {
            case .uri: uris.append(String(decoding: name.contents, as: UTF8.self))
            case .dnsName: hosts.append(String(decoding: name.contents, as: UTF8.self))
            default: break
            }
        }
    }

    /// The first of some names that the certificate has: a URI octet for octet, a DNS name in any case of letters.
    ///
    /// A wildcard in the certificate stands for nothing: a client is one of those that are listed, or it is not.
    func first(of listed: [String]) -> String? {
        listed.first { name in
            if name.contains(":") { return uris.contains { $0.utf8.elementsEqual(name.utf8) } }
            return hosts.contains { $0.lowercased().utf8.elementsEqual(name.lowercased().utf8) }
        }
    }

    /// The name to call the client by: a URI, else a DNS name, else the subject's common name. In printable ASCII; what is
    /// not, and what is too long, is replaced or cut off.
    var shown: String? {
        guard let name = uris.first ?? hosts.first ?? commonName else { return nil }
        let octets = name.utf8.prefix(Self.shownLength).map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }

    private var commonName: String? {
        guard let octets = try? certificate.toDERBytes() else { return nil }
        return Certificate(octets)?.commonName
    }
}

/// Tells a connection's handlers, once its handshake is done, the name in the client's certificate.
struct ClientIdentified: Sendable {
    let name: String
}
