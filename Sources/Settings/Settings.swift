/// Everything an operator can set, checked.
package struct Settings: Sendable {
    package var service = Listen.network(host: "127.0.0.1", port: 8080)
    package var admin = Listen.network(host: "127.0.0.1", port: 9090)
    package var limits = Limits()
    package var keys = Keys()
    package var log = Log()
    /// Where the last good key sets are kept over a restart; `nil`: nowhere.
    package var cacheDirectory: String?
    /// How many verified tokens are remembered; 0: none.
    package var verifiedTokenCacheEntries = 10_000
    /// SHA-256 digests of the API keys that callers may present; none: no key is asked for.
    package var apiKeyDigests: [[UInt8]] = []
    /// How long a stop waits for requests under way.
    package var shutdownGraceSeconds: Int64 = 10
    package var providers: [ProviderSettings] = []

    package init() {}

    package enum Listen: Sendable, Equatable {
        case network(host: String, port: Int)
        case unixSocket(path: String)

        /// Whether only processes on this machine can connect.
        package var isLocal: Bool {
            switch self {
            case .network(let host, _): host.hasPrefix("127.") || host == "::1" || host == "localhost"
            case .unixSocket: true
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

    package struct Limits: Sendable, Equatable {
        package var maximumBody = 64 * 1024
        package var maximumBatchBody = 4 * 1024 * 1024
        package var maximumHeader = 16 * 1024
        package var maximumBuffered = 32 * 1024 * 1024
        package var maximumConnections = 10_000
        package var maximumInFlight = 1024
        package var requestTimeoutSeconds: Int64 = 10
        package var idleTimeoutSeconds: Int64 = 75
        package var keysTimeoutSeconds: Int64 = 5
    }

    package struct Keys: Sendable, Equatable {
        package var staleForSeconds: Int64 = 24 * 3600
    }

    package struct Log: Sendable, Equatable {
        package var level = "info"
        package var requests = true

        package static let levels = ["debug", "info", "warning", "error"]
    }

    /// What an operator should know about settings that are allowed and risky: a start-up warning each.
    package var warnings: [String] {
        var warnings: [String] = []
        if !service.isLocal, apiKeyDigests.isEmpty {
            warnings.append("the service listens beyond this machine and asks callers for no API key")
        }
        if !admin.isLocal { warnings.append("the admin listener listens beyond this machine") }
        return warnings + providers.flatMap(\.warnings)
    }
}
