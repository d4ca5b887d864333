package import NIOCore
package import NIOSSL
package import OpenSSL

/// Where a Valkey or Redis is, and how it is asked.
package struct ValkeySettings: Sendable {
    package var address: StoreAddress
    /// The TLS configuration as it is now; `nil`: without TLS.
    package var tls: (@Sendable () -> NIOSSLContext)?
    /// `nil`: the default user.
    package var username: String?
    /// The password as it is now; `nil`: none is asked for.
    package var password: (@Sendable () -> SecretBytes?)?
    package var database = 0
    /// What every key begins with.
    package var prefix = "assay:"
    /// How many replicas must have a claim before it counts.
    package var replicas = 0
    /// How long a claim may take.
    package var timeout = TimeAmount.milliseconds(250)

    /// How long a connection, TLS and the greeting may take.
    var greetingTimeout = TimeAmount.seconds(2)
    /// A connection that ended sooner counts as one that failed.
    var settledAfter = TimeAmount.seconds(5)

    package init(address: StoreAddress) { self.address = address }
}

/// The address of a server, or of one node of a cluster.
package enum StoreAddress: Hashable, Sendable, CustomStringConvertible {
    case network(host: String, port: Int)
    case unixSocket(path: String)

    /// From a redirection such as `127.0.0.1:6381`; where it names no host, that is the one that redirects.
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
