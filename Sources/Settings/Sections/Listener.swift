private import Bytes
package import HTTP
private import Keys
internal import Verification

extension Settings {
    /// One of the two listeners.
    package struct Listener: Sendable, Equatable {
        package var listen: ListenAddress
        /// The TLS certificate and key; `nil`: plain HTTP.
        package var tls: TLSFiles?

        package init(_ listen: ListenAddress, tls: TLSFiles? = nil) {
            self.listen = listen
            self.tls = tls
        }

        /// Whether it requires client certificates (mutual TLS).
        var asksForCertificates: Bool { tls?.clientAuthorities != nil }
    }
}

extension ListenAddress {
    /// Whether only processes on this machine can connect.
    package var isLocal: Bool {
        switch self {
        case .network("localhost", _), .unixSocket: true
        case .network(let host, _): Self.loopback.contains { $0.contains(host) }
        }
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { AddressBlock($0) }

    /// Whether two listeners can't be bound at the same time because their addresses conflict.
    func collides(with other: ListenAddress) -> Bool {
        switch (self, other) {
        case (.network(let host, let port), .network(let otherHost, let otherPort)):
            let hosts = [host, otherHost].map { $0 == "localhost" ? "127.0.0.1" : $0 }
            return port == otherPort && port != 0
                && (hosts[0] == hosts[1] || hosts.contains { ["0.0.0.0", "::"].contains($0) })
        case (.unixSocket(let path, _), .unixSocket(let otherPath, _)): return path == otherPath
        default: return false
        }
    }

    /// Reads `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/assay/assay.sock`.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard path.hasPrefix("/"), path.utf8.count < 108 else { return nil }
            self = .unixSocket(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), text[text.index(after: colon)...].allSatisfy(\.isNumber),
            let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self = .network(host: String(host), port: port)
    }
}

extension SocketPermissions {
    /// The mode in the form used in settings.
    var modeText: String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Parses a mode such as `0660`. At least the service's own user must be able to connect.
    static func mode(_ text: String) -> UInt32? {
        guard (3...4).contains(text.utf8.count), text.utf8.count == 3 || text.hasPrefix("0"),
            text.allSatisfy({ ("0"..."7").contains($0) }), let mode = UInt32(text, radix: 8), mode & 0o600 == 0o600
        else { return nil }
        return mode
    }
}

extension APIKey {
    /// Whether an attacker would find the key by trying a few words.
    var isGuessable: Bool { GuessableKeys.digests.contains(digest) }
}

extension Settings.Listener {
    /// Settings of both listeners.
    ///
    /// - Parameter callers: who calls this listener.
    static func members(for callers: String) -> [Member<Settings.Listener>] {
        [
            Setting(
                "listen", .listenAddress, change: .restart,
                "The address for \(callers): `host:port`, or a Unix socket at `unix:/path`."
            ).at(\.listen),
            Member(
                section: "socket", change: .restart,
                of: [ListenerReader.mode.description, ListenerReader.group.description],
                "Who may connect to a Unix socket; only for a listener at `unix:/path`.",
                read: ListenerReader.readSocket),
            Member(
                section: "tls", change: .restart,
                of: [
                    ListenerReader.certificate.description, ListenerReader.key.description,
                    ListenerReader.authorities.description, ListenerReader.names.description,
                ], "Serves TLS 1.2 or 1.3. The files are PEM, and are re-read when they change.",
                read: ListenerReader.readTLS
            ).comparing(\.tls),
        ]
    }
}

extension ValueType where Value == ListenAddress {
    fileprivate static var listenAddress: Self {
        Self(
            expected: "host:port or unix:/path, with a port from 0 to 65535",
            form: .text(pattern: "^(unix:/.+|.+:[0-9]+)$"),
            parse: ListenAddress.init, text: \.text)
    }
}

/// Reads `service` and `admin`.
enum ListenerReader {
    static let mode = Setting(
        "mode",
        ValueType(
            expected: "an octal mode such as 0660, in which the owner can read and write",
            form: .text(pattern: "^0?[0-7]{3}$"), parse: SocketPermissions.mode,
            text: { SocketPermissions(mode: $0).modeText }),
        defaultDescription: "`0600`", "The mode of the socket's file. Callers need write permission to connect.")
    static let group = Setting(
        "group", .text, defaultDescription: "set by the system", "The group of the socket's file, by name or number."
    )
    static let certificate = Setting(
        "certificate_file", .file(.certificate),
        "The listener's certificate, followed by the intermediate CA certificates.")
    static let key = Setting("key_file", .file(.privateKey), "The certificate's private key, unencrypted.")
    static let authorities = Setting(
        "client_ca_file", .file(.authorities),
        "CA certificates. Clients must present a certificate issued by one of these CAs.")
    static let names = Setting(
        "client_names",
        listOf: .text(
            "a URI such as spiffe://example.org/backend, or a DNS name such as backend.example.org",
            isGood: isClientName),
        refusesEmpty: "must have at least one name; remove it to accept any", defaultDescription: "any",
        "URIs (such as SPIFFE IDs) or DNS names. A client's certificate must have one of them as a subject alternative name, or the handshake fails."
    )

    @Sendable static func readSocket(_ parent: Section, _ listener: inout Settings.Listener) {
        let section = parent.section("socket")
        let mode = mode.read(section)
        let group = group.read(section)
        section.finish()
        switch listener.listen {
        case .unixSocket(let path, _):
            let socket = SocketPermissions(mode: mode ?? SocketPermissions().mode, group: group)
            if mode == nil, !parent.isFaulty("socket") {
                section.record("mode", Self.mode.shown(socket.mode), .default)
            }
            listener.listen = .unixSocket(path: path, socket)
        case .network:
            parent.refuse(
                "socket", if: (mode != nil || group != nil) && !parent.isFaulty("listen"),
                "socket only has an effect with listen: unix:/path, but listen is host:port; remove it")
        }
    }

    @Sendable static func readTLS(_ parent: Section, _ listener: inout Settings.Listener) {
        let section = parent.section("tls")
        let certificate = certificate.read(section)
        let key = key.read(section)
        let authorities = authorities.read(section)
        section.refuse(
            "client_ca_file", if: authorities == nil && section.mentions("client_ca_file"),
            "client_ca_file is empty; give a path, or remove it to require no client certificate")
        if certificate != nil || key != nil || authorities != nil {
            section.require([Self.certificate.name, Self.key.name], "tls needs both certificate_file and key_file")
        }
        let names = names.read(section)
        section.refuse(
            "client_names", if: names?.isEmpty == false && authorities == nil,
            "client_names needs client_ca_file: without it, clients are not asked for a certificate")
        section.finish()
        if let certificate, let key {
            listener.tls = TLSFiles(
                certificate: certificate, key: key, clientAuthorities: authorities, clientNames: names)
        } else if parent.mentions("tls") {
            // An incomplete tls section is an error: falling back to plain HTTP could be insecure.
            parent.refuse("tls", "tls needs both certificate_file and key_file")
        }
    }

    /// A URI with a scheme, or a DNS name.
    @Sendable private static func isClientName(_ text: String) -> Bool {
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy(\.isVisibleASCII) else {
            return false
        }
        guard let colon = text.firstIndex(of: ":") else {
            return text.allSatisfy { $0.isLetter || $0.isNumber || "-._".contains($0) }
        }
        let scheme = text[..<colon]
        return scheme.first?.isLetter == true && text.index(after: colon) < text.endIndex
            && scheme.allSatisfy { $0.isLetter || $0.isNumber || "+-.".contains($0) }
    }

    /// A listener that other machines can reach needs an access rule, and the two listeners can't share an address.
    @Sendable static func checkReach(_ top: Section, _ settings: inout Settings) {
        guard !top.isFaulty("api_keys"), !top.isFaulty("allow_insecure_listen") else { return }
        let service = top.section("service")
        let admin = top.section("admin")
        if settings.isOpen(settings.service, settings.apiKeys) { refuse(service, "service", keys: "api_keys") }
        if settings.isOpen(settings.admin, settings.operatorKeys), !admin.isFaulty("api_keys") {
            refuse(admin, "admin", keys: "admin.api_keys or api_keys")
        }
        let (one, other) = (settings.service.listen, settings.admin.listen)
        guard !service.isFaulty("listen"), one.collides(with: other) else { return }
        (admin.mentions("listen") ? admin : service).refuse(
            "listen",
            "service.listen and admin.listen collide: \(one.text) and \(other.text); give one of them "
                + "another port or path")
    }

    private static func refuse(_ section: Section, _ name: String, keys: String) {
        guard !section.isFaulty("tls") else { return }
        section.refuse(
            "listen",
            "\(name).listen is reachable from other machines without access control: set \(keys), or "
                + "\(name).tls with client_ca_file, or allow_insecure_listen: true if a firewall or mesh restricts access"
        )
    }
}

extension Settings {
    /// Whether a listener is open to callers on other machines, without a setting that allows this.
    fileprivate func isOpen(_ listener: Listener, _ keys: [APIKey]) -> Bool {
        !listener.listen.isLocal && !listener.asksForCertificates && keys.isEmpty && !allowsInsecureListen
    }
}

/// Reads `api_keys`: digests, or mappings of a name and a digest.
enum APIKeysReader {
    private static let name = Setting(
        "name",
        .text(
            "1 to 64 letters, digits, dots, hyphens and underscores", pattern: "^[A-Za-z0-9._-]{1,64}$",
            isGood: { $0.isName(upTo: 64) }),
        isRequired: true, "The key's name in the log and in metrics.")
    private static let sha256 = Setting("sha256", digest, isRequired: true, "The key's SHA-256 digest.")
    private static let allow = Setting(
        "allow", listOf: ValueType<APIKey.Permission>.word, refusesEmpty: "must name at least one path",
        defaultDescription: "all",
        "What the key is for: `verify` (batches too), `sign_ins` (begin, finish and sign out), `grants`, `notifications`, `access_tokens`, `forward_auth`, `explain`. The admin listener's other paths need a key that allows all of these."
    )

    /// - Parameter defaultDescription: the default in words, if there is one.
    static func setting(defaultDescription: String? = nil, _ help: String) -> Setting<[APIKey]> {
        let pair = ValueForm.section([name.description, sha256.description, allow.description])
        return Setting(
            SettingDescription(
                name: "api_keys",
                expected: "a list; each element: \(digest.expected), or `{ name: …, sha256: …, allow: [ … ] }`",
                form: .list(of: .either(digest.form, pair)), help: help, defaultDescription: defaultDescription),
            read: read,
            shown: { $0.isEmpty ? nil : .list($0.map { digest.text($0.digest) }) })
    }

    /// - Returns: the keys; `nil` if there is no list. A key without a name is called `key-` and its position in the
    ///   list.
    @Sendable private static func read(_ section: Section) -> [APIKey]? {
        let unnamed = ValueType(expected: digest.expected, form: digest.form, isSecret: true) { text in
            digest.parse(text).map { APIKey(name: "", digest: $0) }
        } text: {
            digest.text($0.digest)
        }
        let keys = section.list("api_keys", unnamed) { element in
            let name = name.read(element)
            let digest = sha256.read(element)
            element.require([Self.name.name, sha256.name], "an API key needs both name and sha256")
            let permissions = allow.read(element).map(Set.init) ?? APIKey.Permission.all
            element.finish()
            guard let name, let digest else { return nil }
            return APIKey(name: name, digest: digest, permissions: permissions)
        }
        guard let keys else { return nil }
        var named: [APIKey] = []
        for (index, var key) in keys.enumerated() {
            let name = key.name.isEmpty ? "key-\(index + 1)" : key.name
            if named.contains(where: { $0.name == name }) {
                section.refuse("api_keys", "duplicate name \(name) in api_keys; rename one")
            }
            section.refuse(
                "api_keys", if: key.digest == GuessableKeys.empty,
                "\(name) in api_keys is the digest of an empty key; was the variable with the key unset? Create a key with assay api-key"
            )
            section.refuse(
                "api_keys", if: named.contains(where: { $0.digest == key.digest && $0.permissions != key.permissions }),
                "\(name) in api_keys has the digest of a key before it, but another allow; join their lists")
            key.name = name
            named.append(key)
        }
        return named
    }

    private static let digest = ValueType<[UInt8]>(
        expected: "a SHA-256 digest in 64 hexadecimal digits", form: .text(pattern: "^[0-9A-Fa-f]{64}$"), isSecret: true
    ) { text in
        [UInt8](hexadecimal: text).flatMap { $0.count == 32 ? $0 : nil }
    } text: { octets in
        String(hexadecimal: octets.span)
    }
}
