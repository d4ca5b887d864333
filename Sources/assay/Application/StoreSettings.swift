import HTTP
import IDToken
import NIOCore
import NIOSSL
import OpenSSL
import Replay
import Service
import Settings
import Synchronization

extension StoreSetup {
    /// The settings of the store, with the contents of the files that they name.
    ///
    /// - Parameter files: provides the password and the TLS configuration.
    init(_ settings: Settings.SignIns.Store, _ files: StoreFiles, log: Log) {
        if let valkey = ValkeySettings(settings, files) {
            self.init(.valkey(valkey, StoreMonitor(log, files.setting)))
        } else {
            self.init(.memory(ClaimMemory(capacity: settings.entries)))
        }
    }
}

extension Settings {
    /// The store of sign-ins.
    var store: SignIns.Store { (signIns ?? SignIns()).store }
}

extension ValkeySettings {
    /// - Returns: `nil` if the store is `memory`.
    init?(_ settings: Settings.SignIns.Store, _ files: StoreFiles) {
        switch settings.url {
        case .memory: return nil
        case .unixSocket(let path): self.init(address: .unixSocket(path: path))
        case .server(let host, let port, let database, let isTLS):
            self.init(address: .network(host: host, port: port))
            self.database = database
            if isTLS, let storeTLS = files.tls { tls = { storeTLS.context } }
        }
        username = settings.username
        password = { files.password }
        prefix = settings.prefix
        replicas = settings.replicas
        allowsEviction = settings.allowsEviction
        timeout = .milliseconds(settings.timeoutMilliseconds)
        urlSetting = files.setting + ".url"
    }
}

extension StoreMonitor {
    /// - Parameter setting: which store it is.
    fileprivate convenience init(_ log: Log, _ setting: String) {
        self.init { address, news in
            let address: (StaticString, Log.Value) = ("address", .text("\(address)"))
            let setting: (StaticString, Log.Value) = ("setting", .text(setting))
            switch news {
            case .failed(let failure):
                log.write(
                    .warning, failure.health == .unreachable ? "store unreachable" : "store refused",
                    [address, setting, ("reason", .text(failure.reason))])
            case .recovered: log.write(.info, "store usable again", [address, setting])
            case .unknownEviction:
                log.write(
                    .warning, "store not checked",
                    [
                        address, setting,
                        (
                            "reason",
                            .text(
                                "neither CONFIG GET nor INFO shows its maxmemory-policy, so it may evict; set noeviction, and permit one of these commands"
                            )
                        ),
                    ])
            }
        }
    }
}

/// The TLS configuration of connections to the store. Its files are read again when they change, because certificates
/// are renewed while the service runs.
final class StoreTLS: Sendable {
    private let settings: Settings.SignIns.Store
    /// The path of the settings, for errors.
    private let name: String
    private let latest: Mutex<Latest>

    /// The last files that could be used.
    private struct Latest: Sendable {
        let versions: [SmallFile.Version?]
        let context: NIOSSLContext
    }

    private static let maximumSize = 4 * 1024 * 1024

    /// Reads the files. Blocks.
    ///
    /// - Throws: ``ConfigurationError`` if one can't be used.
    init(_ settings: Settings.SignIns.Store, _ name: String) throws(ConfigurationError) {
        self.settings = settings
        self.name = name
        latest = Mutex(try Self.read(settings, name))
    }

    /// For new connections. Open ones keep theirs.
    var context: NIOSSLContext { latest.withLock(\.context) }

    /// Reads the files if one of them changed. Blocks.
    ///
    /// - Throws: ``ConfigurationError`` if one can't be used; the previous ones then stay in use.
    func readAgain() throws(ConfigurationError) {
        let paths = [settings.authoritiesFile, settings.certificateFile, settings.keyFile].compactMap(\.self)
        guard paths.map(SmallFile.version(atPath:)) != latest.withLock(\.versions) else { return }
        let read = try Self.read(settings, name)
        latest.withLock { $0 = read }
    }

    private static func read(_ settings: Settings.SignIns.Store, _ name: String) throws(ConfigurationError) -> Latest {
        var versions: [SmallFile.Version?] = []
        func bytes(_ path: String?) throws(ConfigurationError) -> [UInt8]? {
            guard let path else { return nil }
            do throws(SmallFile.Failure) {
                let file = try SmallFile(path: path, maximumSize: maximumSize, followingLinks: true)
                versions.append(file.version)
                if !file.bytes.isEmpty { return file.bytes }
            } catch {
                throw ConfigurationError(text: "\(name): \(path): \(error.text(maximumSize: maximumSize))")
            }
            throw ConfigurationError(text: "\(name): \(path): the file is empty")
        }
        let authorities = try bytes(settings.authoritiesFile)
        let certificate = try bytes(settings.certificateFile)
        var key = try bytes(settings.keyFile) ?? []
        defer { wipe(&key) }
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            // A server that is gone never confirms the end of the connection.
            configuration.shutdownTimeout = .milliseconds(100)
            if let authorities { configuration.trustRoots = .certificates(try certificates(in: authorities)) }
            if let certificate, !key.isEmpty {
                configuration.certificateChain = try certificates(in: certificate).map { .certificate($0) }
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem))
            }
            return Latest(versions: versions, context: try NIOSSLContext(configuration: configuration))
        } catch {
            throw ConfigurationError(text: "\(name): TLS can't be set up: \(error)")
        }
    }

    private static func certificates(in bytes: [UInt8]) throws -> [NIOSSLCertificate] {
        let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
        guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        return certificates
    }
}
