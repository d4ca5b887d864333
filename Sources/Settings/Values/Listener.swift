package import HTTP
private import Keys

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
                && (hosts[0] == hosts[1] || hosts.contains(where: Self.isWildcard))
        case (.unixSocket(let path, _), .unixSocket(let otherPath, _)): return path == otherPath
        default: return false
        }
    }

    private static func isWildcard(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

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

extension Settings {
    /// An API key, stored as a digest only.
    package struct APIKey: Sendable, Equatable {
        /// Its name in the log and in metrics.
        package var name: String
        /// SHA-256, 32 octets.
        package var digest: [UInt8]

        /// Whether an attacker would find the key by trying a few words.
        var isGuessable: Bool { GuessableKeys.digests.contains(digest) }
    }
}
