private import NIOCore
package import NIOSSL
private import Synchronization

/// The CA certificates that verify servers: the system's, and those of an additional file.
///
/// Reading the system's certificates takes a megabyte and milliseconds. They are read once per process, shared by all
/// contexts, and read again when their file changes.
package struct TrustStore: Sendable {
    /// A TLS context for connections to servers whose certificate must be issued by one of the CAs for their name.
    package let context: NIOSSLContext
    private let versions: [SmallFile.Version?]

    /// Where distributions keep all CA certificates in one file.
    private static let systemFile = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
        .first { SmallFile.version(atPath: $0) != nil }
    /// Where distributions keep one file per CA certificate, by the hash of its name. The TLS library looks it up when
    /// needed.
    private static let systemDirectory = ["/etc/ssl/certs"].first { SmallFile.version(atPath: $0) != nil }
    private static let systemRoots = Mutex<(version: SmallFile.Version, certificates: [NIOSSLCertificate])?>(nil)
    /// The last stores, by their additional file. The settings name these files, so there are few.
    private static let kept = Mutex<[String?: TrustStore]>([:])

    /// - Parameter certificate: that connections present to servers which ask for one; `nil` for none.
    private init(caFile: String?, presenting certificate: TLSIdentity?) throws {
        // Taken before reading, so that a change during the read is noticed.
        versions = Self.versions(caFile)
        var configuration = TLSConfiguration.forExchanges
        if let roots = Self.roots() {
            configuration.trustRoots = Self.systemDirectory.map { .file($0) } ?? .certificates([])
            configuration.additionalTrustRoots = [.certificates(roots)]
        }
        if let caFile { configuration.additionalTrustRoots.append(.file(caFile)) }
        certificate?.present(in: &configuration)
        context = try NIOSSLContext(configuration: configuration)
    }

    /// The versions of the system's file and of the additional one.
    private static func versions(_ caFile: String?) -> [SmallFile.Version?] {
        [systemFile, caFile].map { $0.flatMap(SmallFile.version(atPath:)) }
    }

    /// The system's certificates from its file; `nil` if the TLS library must look them up itself.
    private static func roots() -> [NIOSSLCertificate]? {
        guard let systemFile, let version = SmallFile.version(atPath: systemFile) else { return nil }
        return systemRoots.withLock { kept in
            if let kept, kept.version == version { return kept.certificates }
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(systemFile), !certificates.isEmpty else {
                return nil
            }
            kept = (version, certificates)
            return certificates
        }
    }

    /// The trust store for the files' current contents, which all callers share. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - caFile: a PEM file with CA certificates to trust in addition to the system's.
    ///   - certificate: that connections present to servers which ask for one; `nil` for none.
    /// - Throws: an error of NIOSSL if a file can't be read, or the key is not the certificate's.
    package static func current(
        caFile: String?, presenting certificate: TLSIdentity? = nil
    ) throws -> TrustStore {
        func current(in stores: borrowing Mutex<[String?: TrustStore]>) throws -> TrustStore {
            if let kept = stores.withLock({ $0[caFile] }), kept.versions == versions(caFile) { return kept }
            let new = try TrustStore(caFile: caFile, presenting: certificate)
            stores.withLock { $0[caFile] = new }
            return new
        }
        return if let certificate { try current(in: certificate.stores) } else { try current(in: kept) }
    }
}

extension TLSConfiguration {
    /// The TLS configuration that all exchanges share.
    package static var forExchanges: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        // The TLS handler sets a timer for the peer's `close_notify`, and keeps all of the connection's memory until
        // the timer fires, even if the connection was closed before. An exchange does not wait for `close_notify`.
        configuration.shutdownTimeout = .zero
        return configuration
    }
}

/// A certificate and its private key, by which connections authenticate a client.
///
/// Equal only to itself: a renewed one is another.
package final class TLSIdentity: Sendable {
    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey
    /// The stores whose contexts present it, by their file of additional CA certificates.
    fileprivate let stores = Mutex<[String?: TrustStore]>([:])

    /// - Parameters:
    ///   - chain: PEM: the certificate, then those that certify it, if servers need them.
    ///   - key: PEM. The caller overwrites it.
    /// - Throws: an error of NIOSSL for anything else.
    package init(chain: [UInt8], key: [UInt8]) throws {
        self.chain = try NIOSSLCertificate.fromPEMBytes(chain)
        self.key = try NIOSSLPrivateKey(bytes: key, format: .pem)
    }

    fileprivate func present(in configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }
}

extension TLSIdentity: Hashable {
    package static func == (left: TLSIdentity, right: TLSIdentity) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
