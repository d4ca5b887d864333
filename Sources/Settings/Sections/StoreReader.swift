private import Bytes

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
            Member(
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
                        parse: Settings.StoreURL.init, text: \.text), url), at: \.url),
            Member(Setting("username", .text, "The ACL user."), ifSet: \.username),
            Member(
                Setting("password_file", .file(.secret), "A file with the password."), ifSet: \.passwordFile),
            Member(
                Setting(
                    "ca_file", .file(.authorities), defaultDescription: "the system's",
                    "CA certificates (PEM) to trust."), ifSet: \.authoritiesFile),
            Member(
                Setting("certificate_file", .file(.certificate), "A client certificate to present."),
                ifSet: \.certificateFile),
            Member(
                Setting("key_file", .file(.privateKey), "The client certificate's private key."), ifSet: \.keyFile),
            Member(
                Setting(
                    "prefix",
                    .text("1 to 64 visible ASCII characters") { text in
                        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isVisibleASCII)
                    }, defaultDescription: prefix, "The prefix of every key in the store."), at: \.prefix),
            Member(
                Setting(
                    "replicas", .integer(0...16),
                    "How many replicas must store a record before \(replicas) (`WAIT`), so that a failover does not lose it."
                ), at: \.replicas),
            Member(
                Setting(
                    "allow_eviction", .boolean,
                    "Whether to use a store whose `maxmemory-policy` evicts: under memory pressure, it accepts replays. Otherwise such a store is refused (`503 store_unavailable`)."
                ), at: \.allowsEviction),
            Member(
                Setting("timeout", .milliseconds(10...10_000), "How long to wait for the store."),
                at: \.timeoutMilliseconds),
            Member(
                Setting(
                    "entries", .integer(1000...10_000_000),
                    "How many records `memory` holds. When it is full, \(fullness) gets `503 store_unavailable`; no record is dropped early."
                ), at: \.entries),
        ]
    }

    /// Disabled settings have no effective defaults.
    func recordNoDefaults(_ section: Section) {
        for description in members.flatMap(\.descriptions) { section.record(description.name, nil, .default) }
    }

    /// Rejects members that contradict each other or would have no effect.
    func check(_ section: Section, _ store: Settings.SignIns.Store) {
        switch store.url {
        case .memory:
            Self.refuse(
                Self.credentials + ["prefix", "replicas", "allow_eviction", "timeout"], in: section,
                "has no effect with url: memory; set url to a server, or remove it")
        case .unixSocket, .server(_, _, _, isTLS: false):
            Self.refuse(Self.ofTLS, in: section, "needs TLS, but url is not rediss://; change url, or remove it")
            Self.refuse(["entries"], in: section, Self.entriesReason)
        case .server(_, _, _, isTLS: true): Self.refuse(["entries"], in: section, Self.entriesReason)
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
    private static let entriesReason = "only has an effect with url: memory; remove it"

    private static func refuse(_ names: [String], in section: Section, _ reason: String) {
        for name in names where section.source(name) != nil { section.refuse(name, "\(name) \(reason)") }
    }
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
            refuse(credentials, in: section, "belongs to url; add the store's url, or remove it")
            (store.username, store.passwordFile) = (usual.username, usual.passwordFile)
            store.authoritiesFile = usual.authoritiesFile
            (store.certificateFile, store.keyFile) = (usual.certificateFile, usual.keyFile)
        }
        if !section.isFaulty("url") { ofProofs.check(section, store) }
        section.finish()
        return store
    }
}
