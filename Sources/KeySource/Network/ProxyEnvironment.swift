private import FoundationEssentials

/// The proxy for https requests from the environment: `HTTPS_PROXY` and `NO_PROXY`, in upper or lower case.
///
/// Follows the conventions of curl: `NO_PROXY` is a list of host names, which also match their subdomains, with or
/// without a leading dot; or `*`.
package struct ProxyEnvironment: Sendable, Equatable {
    package let host: String
    package let port: Int
    package let credentials: Credentials?
    /// In lower case; each also matches its subdomains.
    package let exceptions: [String]

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
            .split(whereSeparator: { $0 == "," || $0 == " " })
            .map { ($0.hasPrefix(".") ? $0.dropFirst() : $0).lowercased() }
    }

    /// Whether requests to a host use the proxy.
    package func applies(to host: String) -> Bool {
        !exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix("." + $0) }
    }
}
