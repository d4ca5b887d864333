package import NIOCore
package import NIOSSL
package import OpenSSL

/// How to connect to a Valkey or Redis server.
package struct ValkeySettings: Sendable {
    package var address: StoreAddress
    /// Returns the current TLS configuration; `nil`: no TLS.
    package var tls: (@Sendable () -> NIOSSLContext)?
    /// `nil`: the default user.
    package var username: String?
    /// Returns the current password; `nil`: none is needed.
    package var password: (@Sendable () -> SecretBytes?)?
    package var database = 0
    /// The prefix of every key.
    package var prefix = "assay:"
    /// How many replicas must confirm a claim before it counts.
    package var replicas = 0
    /// Whether to use servers that can evict claims.
    package var allowsEviction = false
    /// The setting that names the server, for reports.
    package var urlSetting = usualURLSetting
    static let usualURLSetting = "sign_ins.store.url"
    /// The timeout of a claim.
    package var timeout = TimeAmount.milliseconds(250)

    /// Whether to connect to servers that must not be used, in order to inspect them.
    var acceptsAnyServer = false
    /// How often a connected server is asked again whether it evicts, or has become a replica.
    var reportInterval = TimeAmount.minutes(1)
    /// The timeout of connecting, including the TLS handshake and the greeting.
    var greetingTimeout = TimeAmount.seconds(2)
    /// A connection that ends sooner counts as failed.
    var settledAfter = TimeAmount.seconds(5)

    package init(address: StoreAddress) { self.address = address }
}

/// The address of a server, or of one node of a cluster.
package enum StoreAddress: Hashable, Sendable, CustomStringConvertible {
    case network(host: String, port: Int)
    case unixSocket(path: String)

    /// From a redirection such as `127.0.0.1:6381`. Without a host, it means the redirecting server's host.
    init?(redirection text: some StringProtocol, from redirecting: StoreAddress) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let host = String(text[..<colon])
        switch redirecting {
        case .network(let ownHost, _): self = .network(host: host.isEmpty ? ownHost : host, port: port)
        case .unixSocket: self = .network(host: host.isEmpty ? "127.0.0.1" : host, port: port)
        }
    }

    package var description: String {
        switch self {
        case .network(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}
