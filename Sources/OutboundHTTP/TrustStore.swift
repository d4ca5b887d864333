private import Host
private import NIOCore
package import NIOSSL
private import Synchronization

/// The certificates of authorities that servers are believed by: the system's, and those of a file beside them.
///
/// Reading the system's takes a megabyte and milliseconds. They are read once for the process and shared by all contexts, and
/// again when their file has changed.
package struct TrustStore: Sendable {
    /// A context for connections whose servers must have a certificate by one of the authorities, for their name.
    package let context: NIOSSLContext
    private let caFile: String?
    private let versions: Versions

    /// What changes when one of the files does.
    private struct Versions: Equatable {
        let system: SmallFile.Version?
        let caFile: SmallFile.Version?

        init(_ caFile: String?) {
            system = TrustStore.systemFile.flatMap(SmallFile.version(atPath:))
            self.caFile = caFile.flatMap(SmallFile.version(atPath:))
        }
    }

    private struct SystemRoots {
        let version: SmallFile.Version?
        let certificates: [NIOSSLCertificate]
    }

    /// Where distributions keep the authorities in one file.
    private static let systemFile = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
        .first { SmallFile.version(atPath: $0) != nil }
    /// Where they keep them in a file each, by the hash of their name. The TLS library looks into it when it needs one.
    private static let systemDirectory = ["/etc/ssl/certs"].first { SmallFile.version(atPath: $0) != nil }
    private static let systemRoots = Mutex<SystemRoots?>(nil)

    /// Reads the authorities. Blocks for as long as the disk likes.
    ///
    /// - Parameter caFile: a PEM file with authorities to trust beside the system's.
    /// - Throws: an error of NIOSSL for files that can't be read.
    package init(caFile: String?) throws {
        self.caFile = caFile
        // Before they are read: what changes meanwhile is read again.
        versions = Versions(caFile)
        var configuration = TLSConfiguration.forExchanges
        if let roots = Self.roots(versions.system) {
            configuration.trustRoots = Self.systemDirectory.map { .file($0) } ?? .certificates([])
            configuration.additionalTrustRoots = [.certificates(roots)]
        }
        if let caFile { configuration.additionalTrustRoots.append(.file(caFile)) }
        context = try NIOSSLContext(configuration: configuration)
    }

    /// Whether the files are as they were when they were read. Blocks for as long as the disk likes.
    package var isCurrent: Bool { Versions(caFile) == versions }

    /// The system's authorities, of their file; `nil` where the TLS library must find them by itself.
    private static func roots(_ version: SmallFile.Version?) -> [NIOSSLCertificate]? {
        guard let systemFile, version != nil else { return nil }
        return systemRoots.withLock { kept in
            if let kept, kept.version == version { return kept.certificates }
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(systemFile), !certificates.isEmpty else {
                return nil
            }
            kept = SystemRoots(version: version, certificates: certificates)
            return certificates
        }
    }
}

/// Keeps a caller's trust store for as long as its files are the same.
package final class TrustStoreCache: Sendable {
    private let caFile: String?
    private let kept = Mutex<TrustStore?>(nil)

    /// - Parameter caFile: see ``TrustStore/init(caFile:)``.
    package init(caFile: String?) { self.caFile = caFile }

    /// The trust store as its files are now. Blocks for as long as the disk likes.
    package func current() throws -> TrustStore {
        if let store = kept.withLock({ $0 }), store.isCurrent { return store }
        let store = try TrustStore(caFile: caFile)
        kept.withLock { $0 = store }
        return store
    }
}

extension TLSConfiguration {
    /// What is common to all exchanges.
    package static var forExchanges: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        // The TLS handler sets a timer for the other side's `close_notify`, and keeps all of the connection's memory until that
        // has fired, also if the connection was closed before. An exchange waits for no `close_notify`.
        configuration.shutdownTimeout = .zero
        return configuration
    }
}
