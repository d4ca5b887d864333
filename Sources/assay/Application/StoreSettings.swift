import HTTP
import IDToken
import NIOCore
import NIOSSL
import OpenSSL
import Service
import Settings
import SignIns
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
                let reason =
                    "neither CONFIG GET nor INFO shows its maxmemory-policy, so it may evict; set noeviction, and permit one of these commands"
                log.write(.warning, "store not checked", [address, setting, ("reason", .text(reason))])
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
            let named = CredentialFile(path: path, name: name, maximumSize: maximumSize)
            let file = try named.contents()
            guard !file.bytes.isEmpty else { throw named.fault("the file is empty") }
            versions.append(file.version)
            return file.bytes
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
            throw ConfigurationError("\(name): TLS can't be set up: \(error)")
        }
    }

    private static func certificates(in bytes: [UInt8]) throws -> [NIOSSLCertificate] {
        let certificates = try NIOSSLCertificate.fromPEMBytes(bytes)
        guard !certificates.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        return certificates
    }
}

/// The files of sign-ins and of DPoP proofs: the keys that encrypt handles and make nonces, and the stores' passwords and
/// TLS files.
final class SignInFiles: Sendable {
    private let keyFiles: [String]
    let store: StoreFiles
    let proofStore: StoreFiles
    /// Those of the last valid keys.
    private let keyVersions = Mutex<[SmallFile.Version]>([])

    fileprivate static let maximumSize = 4096

    /// - Throws: ``ConfigurationError`` if a TLS file can't be used.
    init(_ settings: Settings) throws(ConfigurationError) {
        keyFiles = settings.signIns?.keyFiles ?? []
        store = try StoreFiles(settings.store, "sign_ins.store")
        proofStore = try StoreFiles(settings.proofStore, "dpop.store")
    }

    /// The keys alone.
    convenience init(keyFiles: [String]) throws(ConfigurationError) {
        var settings = Settings()
        settings.signIns = Settings.SignIns()
        settings.signIns?.keyFiles = keyFiles
        try self.init(settings)
    }

    var isEmpty: Bool { keyFiles.isEmpty && store.isEmpty && proofStore.isEmpty }

    /// Reads all files. Blocks; calls must not overlap.
    ///
    /// - Returns: the keys if one of their files has changed; otherwise `nil`.
    /// - Throws: ``ConfigurationError`` if one can't be used; the previous contents then stay in use.
    func read() throws(ConfigurationError) -> HandleKeys? {
        // Commands read these too. The service warns at its start if this fails.
        if !isEmpty { _ = disableCoreDumps() }
        try store.readAgain()
        try proofStore.readAgain()
        var texts: [[UInt8]] = []
        defer { for index in texts.indices { wipe(&texts[index]) } }
        var versions: [SmallFile.Version] = []
        for path in keyFiles {
            let named = CredentialFile(path: path, name: "sign_ins.key_files", maximumSize: Self.maximumSize)
            let file = try named.contents()
            texts.append(file.bytes)
            versions.append(file.version)
        }
        guard !texts.isEmpty, versions != keyVersions.withLock(\.self) else { return nil }
        do throws(HandleKeyError) {
            let keys = try HandleKeys(texts: texts)
            keyVersions.withLock { $0 = versions }
            return keys
        } catch {
            let path = error.index.map { keyFiles[$0] + ": " } ?? ""
            throw ConfigurationError("sign_ins.key_files: \(path)\(error.text)")
        }
    }

    /// Reads all files for the first time. Without key files, generates a key.
    ///
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    func readFirst() throws(ConfigurationError) -> HandleKeys {
        if let keys = try read() { return keys }
        do throws(OpenSSLError) {
            return try HandleKeys.made()
        } catch {
            throw ConfigurationError("sign_ins: OpenSSL can't generate a key")
        }
    }
}

/// The files of one store.
final class StoreFiles: Sendable {
    /// The path of the store's settings.
    let setting: String
    private let passwordFile: String?
    /// `nil`: connections to the store don't use TLS.
    let tls: StoreTLS?
    private let latest = Mutex<SecretBytes?>(nil)

    /// - Throws: ``ConfigurationError`` if a TLS file can't be used.
    init(_ settings: Settings.SignIns.Store, _ setting: String) throws(ConfigurationError) {
        self.setting = setting
        passwordFile = settings.passwordFile
        tls = if case .server(_, _, _, isTLS: true) = settings.url { try StoreTLS(settings, setting) } else { nil }
    }

    var isEmpty: Bool { passwordFile == nil && tls == nil }

    /// The password as last read; `nil`: none is needed.
    var password: SecretBytes? { latest.withLock(\.self) }

    /// Reads all files. Blocks.
    ///
    /// - Throws: ``ConfigurationError`` if one can't be used; the previous contents then stay in use.
    func readAgain() throws(ConfigurationError) {
        try tls?.readAgain()
        guard let passwordFile else { return }
        let file = CredentialFile(
            path: passwordFile, name: "\(setting).password_file", maximumSize: SignInFiles.maximumSize)
        // Without a trailing line break.
        guard let password = try file.read({ SecretBytes(line: $0) }) else { throw file.fault("the file is empty") }
        latest.withLock { $0 = password }
    }
}
