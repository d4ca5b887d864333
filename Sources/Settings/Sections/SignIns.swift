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
            if store.url != .memory, store.timeoutMilliseconds > 1000 {
                warnings.append(
                    "sign_ins.store.timeout is over 1s: a finish that waits for keys, the store and the provider may take longer than the 12s that clients wait; lower it"
                )
            }
            return warnings + store.warnings("sign_ins.store")
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

            /// - Parameter name: the path of its settings.
            func warnings(_ name: String) -> [String] {
                var warnings: [String] = []
                if passwordFile != nil, url.isReadOnNetwork {
                    warnings.append(
                        "\(name): the password is sent without TLS: it can be read on the network; use rediss://")
                }
                if allowsEviction {
                    warnings.append(
                        "\(name).allow_eviction: a store that evicts forgets what was used, such as sign-ins, nonces and DPoP proofs, which can then be used again; set maxmemory-policy noeviction instead"
                    )
                }
                return warnings
            }
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

/// Reads `sign_ins`. The section enables sign-ins, even if it is empty.
enum SignInReader {
    static let member = Member<Settings>(
        [
            SettingDescription(
                section: "sign_ins", change: .restart, members.flatMap(\.descriptions),
                "Turns on `POST /v1/sign-ins` and `POST /v1/sign-ins/finish`. `sign_ins: {}` is enough for one instance."
            )
        ]
    ) { top, settings in
        let section = top.section("sign_ins")
        var signIns = Settings.SignIns()
        for member in members { member.read(section, &signIns, nil) }
        let isOn = top.mentions("sign_ins") || signIns != Settings.SignIns()
        if isOn { check(section, signIns) }
        section.finish()
        guard isOn else {
            // Disabled settings have no effective defaults.
            return StoreReader.ofSignIns.recordNoDefaults(section.section("store"))
        }
        settings.signIns = signIns
    }.comparing(\.signIns)

    private static let members: [Member<Settings.SignIns>] = [
        Member(
            Setting(
                "key_files", listOf: .file(.secret), refusesEmpty: "must name at least one file",
                defaultDescription: "a random key per process: a restart invalidates pending sign-ins",
                "Files with 32-byte keys in base64 (`assay key new`). The first encrypts new sign-ins; all decrypt. Required unless the store is `memory`. File contents are re-read when they change; a change to this list needs a restart. [Rotate the key](sign-ins.md#rotate-the-key) has the steps."
            ), at: \.keyFiles),
        Member(
            section: "store", StoreReader.ofSignIns.members.map { $0.within(\.store) },
            "The store of finished sign-ins and used nonces."),
    ]

    private static func check(_ section: Section, _ signIns: Settings.SignIns) {
        let store = section.section("store")
        guard !store.isFaulty("url") else { return }
        if signIns.store.url != .memory, signIns.keyFiles.isEmpty, !section.isFaulty("key_files") {
            section.refuseMissing(
                "key_files",
                "sign_ins.key_files is missing: with a shared store, all instances need the same keys; create one with assay key new"
            )
        }
        StoreReader.ofSignIns.check(store, signIns.store)
    }
}
