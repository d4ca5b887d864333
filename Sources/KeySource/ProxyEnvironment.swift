/// The proxy that the environment names for https requests: `HTTPS_PROXY`, `NO_PROXY`, in either case of letters.
///
/// By the conventions of curl: `NO_PROXY` is a list of host names, a leading full stop or none matching subdomains too, or
/// `*`.
package struct ProxyEnvironment: Sendable, Equatable {
    package let host: String
    package let port: Int
    package let credentials: Credentials?
    private let exceptions: [String]

    /// What stands before the `@`.
    package struct Credentials: Sendable, Equatable {
        package let user: String
        package let password: String
    }

    /// `nil` where no proxy is named.
    ///
    /// - Throws: ``FetchFailure`` for a proxy that is no `http://` URL; without repeating it, since it may hold a password.
    package init?(_ environment: [String: String]) throws(FetchFailure) {
        guard let text = environment["HTTPS_PROXY"] ?? environment["https_proxy"], !text.isEmpty else { return nil }
        let withoutScheme = text.hasPrefix("http://") ? text.dropFirst("http://".count) : text[...]
        let authority = withoutScheme.prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        credentials = at.map { at in
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return Credentials(user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : "")
        }
        let hostAndPort = at.map { authority[authority.index(after: $0)...] } ?? authority
        do {
            let address = try WebAddress("http://\(hostAndPort)", allowingHTTP: true)
            host = address.host
            port = hostAndPort.contains(":") ? address.port : 3128
        } catch {
            throw FetchFailure(.connect, "HTTPS_PROXY is not of the form http://host:port")
        }
        exceptions = (environment["NO_PROXY"] ?? environment["no_proxy"] ?? "")
            .split(whereSeparator: { $0 == "," || $0 == " " })
            .map { ($0.hasPrefix(".") ? $0.dropFirst() : $0).lowercased() }
    }

    /// Whether requests to a host go by way of the proxy.
    package func applies(to host: String) -> Bool {
        !exceptions.contains { $0 == "*" || host == $0 || host.hasSuffix("." + $0) }
    }
}
