private import Bytes
internal import NIOSSL
private import OpenSSL

/// The names in a client's certificate, which a trusted CA has signed.
struct ClientNames {
    /// URIs of the subject alternative name (RFC 5280, section 4.2.1.6), including SPIFFE IDs.
    private var uris: [String] = []
    private var hosts: [String] = []
    private let certificate: NIOSSLCertificate

    /// The most bytes of a name that are shown.
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

    /// The first of the listed names that the certificate has: URIs are compared byte for byte, DNS names without
    /// regard to case.
    ///
    /// A wildcard in the certificate matches nothing.
    func first(of listed: [String]) -> String? {
        listed.first { name in
            if name.contains(":") { return uris.contains { $0.utf8.elementsEqual(name.utf8) } }
            return hosts.contains { $0.lowercased().utf8.elementsEqual(name.lowercased().utf8) }
        }
    }

    /// The client's name for display: a URI, else a DNS name, else the subject's common name, as printable ASCII. Other
    /// characters are replaced, and long names cut off.
    var shown: String? {
        guard let name = uris.first ?? hosts.first ?? commonName else { return nil }
        let octets = name.utf8.prefix(Self.shownLength).map { $0.isPrintableASCII ? $0 : UInt8(ascii: "?") }
        return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
    }

    private var commonName: String? {
        guard let octets = try? certificate.toDERBytes() else { return nil }
        return Certificate(octets)?.commonName
    }
}

/// The event that passes the name in the client's certificate to a connection's handlers after the handshake.
struct ClientIdentified: Sendable {
    let name: String
}
