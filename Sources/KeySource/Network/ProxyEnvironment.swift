private import FoundationEssentials

/// The proxy that the environment names for https requests: `HTTPS_PROXY`, `NO_PROXY`, in either case of letters.
///
/// By the conventions of curl: `NO_PROXY` is a list of host names, a leading full stop or none matching subdomains too, or
/// `*`.
package struct ProxyEnvironment: Sendable, Equatable {
    package let host: String
    package let port: Int
    package let credentials: Credentials?
    /// In lower case; each stands for its subdomains, too.
    package let exceptions: [String]

    /// What stands before the `@`, percent-decoded.
    package struct Credentials: Sendable, Equatable {
        package let user: String
        package let password: String

        /// A value of `Proxy-Authorization` (RFC 7617).
        var basicAuthorization: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
    }

    /// `nil` where no proxy is named.
    ///
    /// - Throws: ``FetchFailure`` for a proxy that is no `http://` URL; without repeating it, since it may hold a password.
    package init?(_ environment: [String: String]) throws(FetchFailure) {
        guard let text = environment["HTTPS_PROXY"] ?? environment["https_proxy"], !text.isEmpty else { return nil }
        // curl takes `proxy.example:3128` too.
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

    /// Whether requests to a host go by way of the proxy.
    package func applies(to host: String) -> Bool {
        !exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix("." + $0) }
    }
}
