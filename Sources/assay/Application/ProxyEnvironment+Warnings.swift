import HTTPServer
import KeySource
import Settings

extension ProxyEnvironment {
    /// Warnings about what is allowed but risky.
    var warnings: [String] {
        guard credentials != nil, !ListenAddress.network(host: host, port: port).isLocal else { return [] }
        return ["HTTPS_PROXY: the proxy's password is sent without TLS: it can be read on the network"]
    }
}
