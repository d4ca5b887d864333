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
        section: "sign_ins", change: .restart, of: members.flatMap(\.descriptions),
        "Turns on `POST /v1/sign-ins` and `POST /v1/sign-ins/finish`. `sign_ins: {}` is enough for one instance."
    ) { top, settings in
        let section = top.section("sign_ins")
        var signIns = Settings.SignIns()
        for member in members { member.read(section, &signIns, nil) }
        let isOn = top.mentions("sign_ins") || signIns != Settings.SignIns()
        if isOn { check(section, signIns) }
        section.finish()
        guard isOn else {
            return section.section("store").recordNoDefaults(of: StoreReader.ofSignIns.members)
        }
        settings.signIns = signIns
    }.comparing(\.signIns)

    private static let members: [Member<Settings.SignIns>] = [
        Setting(
            "key_files", listOf: .file(.secret), refusesEmpty: "must name at least one file",
            defaultDescription: "a random key per process: a restart invalidates pending sign-ins",
            "Files with 32-byte keys in base64 (`assay key new`). The first encrypts new sign-ins; all decrypt. Required unless the store is `memory`. File contents are re-read when they change; a change to this list needs a restart. [Rotate the key](sign-ins.md#rotate-the-key) has the steps."
        ).at(\.keyFiles),
        Member(
            section: "store", StoreReader.ofSignIns.members.map { $0.within(\.store) },
            "The store of finished sign-ins and used nonces."),
    ]

    private static func check(_ section: Section, _ signIns: Settings.SignIns) {
        let store = section.section("store")
        guard !store.isFaulty("url") else { return }
        section.refuseMissing(
            "key_files", if: signIns.store.url != .memory && signIns.keyFiles.isEmpty,
            "sign_ins.key_files is missing: with a shared store, all instances need the same keys; create one with assay key new"
        )
        StoreReader.ofSignIns.check(store, signIns.store)
    }
}

/// Reads the members of a store for single-use claims.
struct StoreReader: Sendable {
    let members: [Member<Settings.SignIns.Store>]

    static let ofSignIns = StoreReader(
        url:
            "The store of finished sign-ins and used nonces: this process, or a Valkey (7.2 or later) or Redis (6 or later) that all instances share.",
        replicas: "the finish succeeds", fullness: "a finish")
    static let ofProofs = StoreReader(
        url:
            "The store of used proofs: this process, or a Valkey (7.2 or later) or Redis (6 or later) that all instances share. Without it, the server of `sign_ins.store` is used, if there is one.",
        prefix: "`sign_ins.store.prefix` and `dpop:`", replicas: "a request succeeds", fullness: "a request")

    /// - Parameters:
    ///   - url: the help for the URL.
    ///   - prefix: the default of the prefix in words, if it depends on another setting.
    ///   - replicas: what succeeds once enough replicas have stored a record.
    ///   - fullness: what fails when the memory is full.
    private init(url: String, prefix: String? = nil, replicas: String, fullness: String) {
        members = [
            Setting(
                "url",
                ValueType(
                    expected:
                        "memory, redis://host:6379/0, rediss://host:6379/0 or unix:/run/valkey.sock, without a name or password",
                    form: .text(pattern: "^(memory|rediss?://[^@?#]+|unix:/.+)$"),
                    remedy: { url in
                        guard ErrorValueText.credentials(in: url) != nil else { return nil }
                        return
                            "the name belongs in username (the default user needs none), and the password in a file that password_file names"
                    },
                    parse: Settings.StoreURL.init, text: \.text), url
            ).at(\.url),
            Setting("username", .text, "The ACL user.").ifSet(\.username),
            Setting("password_file", .file(.secret), "A file with the password.").ifSet(\.passwordFile),
            Setting(
                "ca_file", .file(.authorities), defaultDescription: "the system's",
                "CA certificates (PEM) to trust."
            ).ifSet(\.authoritiesFile),
            Setting("certificate_file", .file(.certificate), "A client certificate to present.")
                .ifSet(\.certificateFile),
            Setting("key_file", .file(.privateKey), "The client certificate's private key.").ifSet(\.keyFile),
            Setting(
                "prefix",
                .text("1 to 64 visible ASCII characters") { text in
                    (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isVisibleASCII)
                }, defaultDescription: prefix, "The prefix of every key in the store."
            ).at(\.prefix),
            Setting(
                "replicas", .integer(0...16),
                "How many replicas must store a record before \(replicas) (`WAIT`), so that a failover does not lose it."
            ).at(\.replicas),
            Setting(
                "allow_eviction", .boolean,
                "Whether to use a store whose `maxmemory-policy` evicts: under memory pressure, it accepts replays. Otherwise such a store is refused (`503 store_unavailable`)."
            ).at(\.allowsEviction),
            Setting("timeout", .milliseconds(10...10_000), "How long to wait for the store.").at(\.timeoutMilliseconds),
            Setting(
                "entries", .integer(1000...10_000_000),
                "How many records `memory` holds. When it is full, \(fullness) gets `503 store_unavailable`; no record is dropped early."
            ).at(\.entries),
        ]
    }

    /// Rejects members that contradict each other or would have no effect.
    func check(_ section: Section, _ store: Settings.SignIns.Store) {
        switch store.url {
        case .memory:
            section.refuse(
                Self.credentials + ["prefix", "replicas", "allow_eviction", "timeout"],
                "has no effect with url: memory; set url to a server, or remove it")
        case .unixSocket, .server(_, _, _, isTLS: false):
            section.refuse(Self.ofTLS, "needs TLS, but url is not rediss://; change url, or remove it")
        case .server(_, _, _, isTLS: true): break
        }
        if store.url != .memory {
            section.refuse(["entries"], "only has an effect with url: memory; remove it")
        }
        if store.username != nil, store.passwordFile == nil {
            section.refuse("username", "username needs password_file; add it, or remove both")
        }
        if (store.certificateFile == nil) != (store.keyFile == nil) {
            section.refuse("certificate_file", "store needs both certificate_file and key_file, or neither")
        }
    }

    private static let ofTLS = ["ca_file", "certificate_file", "key_file"]
    /// What connects to one server, and to no other.
    private static let credentials = ["username", "password_file"] + ofTLS
}

extension StoreReader {
    /// Reads `dpop.store`: a store of its own if it has a URL, else the server of sign-ins under another prefix, else
    /// memory.
    static func readProofStore(_ parent: Section, _ signIns: Settings.SignIns?) -> Settings.SignIns.Store {
        let section = parent.section("store")
        let hasURL = section.source("url") != nil
        let usual = hasURL ? Settings.DPoP.ownStore : Settings.DPoP.store(beside: signIns)
        var store = usual
        for member in ofProofs.members { member.read(section, &store, nil) }
        if !hasURL, usual.url != .memory {
            section.refuse(credentials, "belongs to url; add the store's url, or remove it")
            (store.username, store.passwordFile) = (usual.username, usual.passwordFile)
            store.authoritiesFile = usual.authoritiesFile
            (store.certificateFile, store.keyFile) = (usual.certificateFile, usual.keyFile)
        }
        if !section.isFaulty("url") { ofProofs.check(section, store) }
        section.finish()
        return store
    }
}
