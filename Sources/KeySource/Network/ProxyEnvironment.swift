private import FoundationEssentials

/// The proxy for https requests from the environment: `HTTPS_PROXY` and `NO_PROXY`, in upper or lower case.
///
/// Follows the conventions of curl and Go: `NO_PROXY` is a list of ``ProxyException``s, separated by commas or white space.
package struct ProxyEnvironment: Sendable, Equatable {
    package let host: String
    package let port: Int
    package let credentials: Credentials?
    package let exceptions: [ProxyException]

    /// The part before the `@`, percent-decoded.
    package struct Credentials: Sendable, Equatable {
        package let user: String
        package let password: String

        /// A value of `Proxy-Authorization` (RFC 7617).
        var basicAuthorization: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
    }

    /// `nil` if there is no proxy.
    ///
    /// - Throws: ``FetchFailure`` for a proxy that is not an `http://` URL, without repeating it, because it may
    ///   contain a password.
    package init?(_ environment: [String: String]) throws(FetchFailure) {
        guard let text = environment["HTTPS_PROXY"] ?? environment["https_proxy"], !text.isEmpty else { return nil }
        // curl accepts `proxy.example:3128` too.
        let url = URLComponents(string: text.contains("://") ? text : "http://" + text)
        guard let url, url.scheme == "http", let host = url.host, !host.isEmpty else {
            throw FetchFailure(.connect, "HTTPS_PROXY is not of the form http://host:port")
        }
        self.host = host.filter { $0 != "[" && $0 != "]" }
        port = url.port ?? 3128
        credentials = url.user.map { Credentials(user: $0, password: url.password ?? "") }
        exceptions = (environment["NO_PROXY"] ?? environment["no_proxy"] ?? "")
            .split(whereSeparator: { $0 == "," || $0.isWhitespace })
            .map { ProxyException(String($0)) }
    }

    /// Whether requests to a host use the proxy.
    ///
    /// - Parameter host: in lower case; an IPv6 address without brackets.
    package func applies(to host: String, port: Int) -> Bool {
        !exceptions.contains { $0.matches(host, port: port) }
    }
}
