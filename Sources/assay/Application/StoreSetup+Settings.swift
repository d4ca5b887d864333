import Host
import IDToken
import NIOCore
import OpenSSL
import ReplayStore
import Service
import Settings
import Telemetry

extension StoreSetup {
    /// The settings of the store, with the contents of the files that they name.
    ///
    /// - Parameter files: provides the password.
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    init(_ settings: Settings.SignIns.Store, _ files: SignInFiles, log: Log) throws(ConfigurationError) {
        if let valkey = try ValkeySettings(settings, files) {
            self.init(.valkey(valkey, StoreMonitor(log)))
        } else {
            self.init(.memory(ClaimMemory(capacity: settings.entries)))
        }
    }
}

extension Settings {
    /// Warnings about secret files that other users may read. Not errors: that is how containers' secrets are often
    /// mounted.
    var exposedKeyFiles: [String] {
        let files =
            (signIns?.keyFiles ?? []).map { ("sign_ins.key_files", $0) }
            + providers.flatMap { provider in
                provider.clients.flatMap(\.authentication.secretFiles).map {
                    ("provider \(provider.policy.id): clients", $0)
                }
            }
        return files.compactMap { setting, path in
            guard let file = try? SmallFile(path: path, maximumSize: 16384, followingLinks: true),
                file.mode & 0o007 != 0
            else { return nil }
            let mode = String(file.mode & 0o777, radix: 8)
            return
                "\(setting): \(path): accessible to other users of this machine (mode \(mode)); restrict it to Assay's user (chmod 600)"
        }
    }
}

extension ValkeySettings {
    /// - Returns: `nil` if the store is `memory`.
    /// - Throws: ``ConfigurationError`` if a file can't be used.
    init?(_ settings: Settings.SignIns.Store, _ files: SignInFiles) throws(ConfigurationError) {
        switch settings.url {
        case .memory: return nil
        case .unixSocket(let path): self.init(address: .unixSocket(path: path))
        case .server(let host, let port, let database, let isTLS):
            self.init(address: .network(host: host, port: port))
            self.database = database
            if isTLS {
                let storeTLS = if let tls = files.tls { tls } else { try StoreTLS(settings) }
                tls = { storeTLS.context }
            }
        }
        username = settings.username
        password = { files.password }
        prefix = settings.prefix
        replicas = settings.replicas
        timeout = .milliseconds(settings.timeoutMilliseconds)
    }
}

extension StoreMonitor {
    fileprivate convenience init(_ log: Log) {
        self.init { address, reason in
            guard let reason else {
                return log.write(.info, "store reachable again", [("address", .text("\(address)"))])
            }
            log.write(.warning, "store unreachable", [("address", .text("\(address)")), ("reason", .text(reason))])
        }
    }
}
