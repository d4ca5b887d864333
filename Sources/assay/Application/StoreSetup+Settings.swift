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
        allowsEviction = settings.allowsEviction
        timeout = .milliseconds(settings.timeoutMilliseconds)
    }
}

extension StoreMonitor {
    fileprivate convenience init(_ log: Log) {
        self.init { address, news in
            let address: (StaticString, Log.Value) = ("address", .text("\(address)"))
            switch news {
            case .failed(let failure):
                log.write(
                    .warning, failure.health == .unreachable ? "store unreachable" : "store refused",
                    [address, ("reason", .text(failure.reason))])
            case .recovered: log.write(.info, "store usable again", [address])
            case .unknownEviction:
                log.write(
                    .warning, "store not checked",
                    [
                        address,
                        (
                            "reason",
                            .text(
                                "CONFIG GET and INFO are denied, so it is not known whether its maxmemory-policy evicts; set noeviction, and permit one of them"
                            )
                        ),
                    ])
            }
        }
    }
}
