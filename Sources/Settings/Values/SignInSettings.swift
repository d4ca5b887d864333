private import Bytes
private import HTTP

extension Settings {
    /// The settings of sign-ins: the keys that encrypt them, and the store that records which ones are finished.
    package struct SignIns: Sendable, Equatable {
        /// The first encrypts, all decrypt. If empty, a key is generated at start-up.
        package var keyFiles: [String] = []
        package var store = Store()

        package init() {}

        /// Settings that are allowed but risky.
        var warnings: [String] {
            var warnings: [String] = []
            if keyFiles.isEmpty {
                warnings.append(
                    "sign_ins has no key_files: a restart invalidates pending sign-ins; set sign_ins.key_files")
            } else if store.url == .memory {
                warnings.append(
                    "sign_ins.key_files with store memory: every process with these keys can finish a sign-in once, and again after a restart; set sign_ins.store.url"
                )
            }
            if store.passwordFile != nil, store.url.isReadOnNetwork {
                warnings.append(
                    "sign_ins.store: the password is sent without TLS: it can be read on the network; use rediss://")
            }
            if store.url != .memory, store.timeoutMilliseconds > 1000 {
                warnings.append(
                    "sign_ins.store.timeout is over 1s: a finish that waits for keys, the store and the provider may take longer than the 12s that clients wait; lower it"
                )
            }
            if store.allowsEviction {
                warnings.append(
                    "sign_ins.store.allow_eviction: a store that evicts forgets finished sign-ins and used nonces, which can then be used again; set maxmemory-policy noeviction instead"
                )
            }
            return warnings
        }

        package struct Store: Sendable, Equatable {
            package var url = StoreURL.memory
            package var username: String?
            package var passwordFile: String?
            package var authoritiesFile: String?
            package var certificateFile: String?
            package var keyFile: String?
            package var prefix = "assay:"
            package var replicas = 0
            /// Whether the store may have a `maxmemory-policy` that evicts.
            package var allowsEviction = false
            package var timeoutMilliseconds: Int64 = 250
            /// The capacity of the `memory` store.
            package var entries = 100_000
        }
    }

    /// The location of the store.
    package enum StoreURL: Sendable, Equatable {
        case memory
        case server(host: String, port: Int, database: Int, isTLS: Bool)
        case unixSocket(path: String)

        /// Parses `memory`, `redis://host:6379/0`, `rediss://…` or `unix:/run/valkey.sock`. A user name or password in
        /// it is an error, because URLs are displayed and logged.
        init?(_ text: String) {
            if text == "memory" {
                self = .memory
            } else if text.hasPrefix("unix:/"), text.utf8.count <= 112 {
                self = .unixSocket(path: String(text.dropFirst("unix:".count)))
            } else if text.hasPrefix("redis://") {
                self.init(text.dropFirst("redis://".count), isTLS: false)
            } else if text.hasPrefix("rediss://") {
                self.init(text.dropFirst("rediss://".count), isTLS: true)
            } else {
                return nil
            }
        }

        private init?(_ rest: Substring, isTLS: Bool) {
            let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let authority = parts.first, !authority.contains("@"),
                let database = parts.count < 2 || parts[1].isEmpty ? 0 : Int(parts[1]), (0...65_535).contains(database)
            else { return nil }
            var (host, port) = (authority[...], Int?.some(6379))
            if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
                (host, port) = (authority[..<colon], Int(authority[authority.index(after: colon)...]))
            }
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            guard let port, (1...65_535).contains(port), !host.isEmpty,
                host.utf8.allSatisfy({ $0.isVisibleASCII && !"?#[]@\\".utf8.contains($0) })
            else { return nil }
            self = .server(host: String(host), port: port, database: database, isTLS: isTLS)
        }

        /// Whether others on the network can read what is sent.
        fileprivate var isReadOnNetwork: Bool {
            guard case .server(let host, let port, _, isTLS: false) = self else { return false }
            return !ListenAddress.network(host: host, port: port).isLocal
        }

        /// The URL as written in the file.
        package var text: String {
            switch self {
            case .memory: "memory"
            case .unixSocket(let path): "unix:\(path)"
            case .server(let host, let port, let database, let isTLS):
                "\(isTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
            }
        }
    }
}
