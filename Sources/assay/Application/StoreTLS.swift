import Host
import NIOCore
import NIOSSL
import Settings
import Synchronization

/// The TLS configuration of connections to the store, from files that are read again when they change: certificates are renewed
/// while the service runs.
final class StoreTLS: Sendable {
    private let settings: Settings.SignIns.Store
    private let latest: Mutex<Latest>

    /// What was read last, and is good.
    private struct Latest: Sendable {
        var versions: [SmallFile.Version]
        var context: NIOSSLContext
    }

    private static let maximumSize = 4 * 1024 * 1024

    /// - Throws: ``ConfigurationError`` if a file can't be used.
    init(_ settings: Settings.SignIns.Store) throws(ConfigurationError) {
        self.settings = settings
        latest = Mutex(
            Latest(versions: try Self.versions(of: settings), context: try Self.makeContext(settings)))
    }

    /// For new connections. Those that are open keep theirs.
    var context: NIOSSLContext { latest.withLock(\.context) }

    /// Reads the files if one of them changed. Blocks.
    ///
    /// - Throws: ``ConfigurationError`` if one can't be used; what was read before is kept.
    func readAgain() throws(ConfigurationError) {
        let versions = try Self.versions(of: settings)
        guard versions != latest.withLock(\.versions) else { return }
        let context = try Self.makeContext(settings)
        latest.withLock { $0 = Latest(versions: versions, context: context) }
    }

    private static func versions(of settings: Settings.SignIns.Store) throws(ConfigurationError) -> [SmallFile.Version]
    {
        var versions: [SmallFile.Version] = []
        for path in [settings.authoritiesFile, settings.certificateFile, settings.keyFile].compactMap(\.self) {
            do throws(SmallFile.Failure) {
                versions.append(try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true).version)
            } catch {
                throw ConfigurationError(
                    text: "sign_ins.store: \(path): \(error.text(maximumSize: maximumSize))")
            }
        }
        return versions
    }

    private static func makeContext(_ settings: Settings.SignIns.Store) throws(ConfigurationError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            // A server that is gone does not say that the connection is over.
            configuration.shutdownTimeout = .milliseconds(100)
            if let file = settings.authoritiesFile { configuration.trustRoots = .file(file) }
            if let certificateFile = settings.certificateFile, let keyFile = settings.keyFile {
                configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificateFile).map {
                    .certificate($0)
                }
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: keyFile, format: .pem))
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConfigurationError(text: "sign_ins.store: TLS can't be set up: \(error)")
        }
    }
}
