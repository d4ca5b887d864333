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

/// An entry of `NO_PROXY`: hosts that are reached without the proxy.
package struct ProxyException: Sendable, Equatable {
    /// As in the variable, in lower case.
    package let text: String
    private let hosts: Hosts
    /// `nil`: every port.
    private let port: Int?

    private enum Hosts: Sendable, Equatable {
        case all
        /// Addresses. Host names never match, because a name is not resolved to find out whether the proxy applies.
        case block(AddressBlock)
        /// A name, and all names below it.
        case name(String)
    }

    /// Reads `*`, a name such as `example.com`, `.example.com` or `*.example.com`, an address, or a block such as
    /// `10.0.0.0/8`, each but a block with or without a port.
    init(_ text: String) {
        self.text = text.lowercased()
        if self.text == "*" {
            (hosts, port) = (.all, nil)
        } else if let block = AddressBlock(self.text, ignoringHostBits: true) {
            (hosts, port) = (.block(block), nil)
        } else {
            let (host, port) = Self.split(self.text)
            self.port = port
            if let address = AddressBlock(host) {
                hosts = .block(address)
            } else if host == "*" {
                hosts = .all
            } else {
                let name = host.hasPrefix("*.") ? host.dropFirst(2) : host.hasPrefix(".") ? host.dropFirst() : host[...]
                hosts = .name(String(name))
            }
        }
    }

    /// The parts before and after the last colon, without the brackets of an IPv6 address.
    private static func split(_ text: String) -> (host: String, port: Int?) {
        var (host, port) = (text[...], Int?.none)
        if let colon = text.lastIndex(of: ":"), let number = UInt16(text[text.index(after: colon)...]) {
            (host, port) = (text[..<colon], Int(number))
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        // The root of the domain name system, which is left out of hosts too.
        if host.count > 1, host.hasSuffix(".") { host = host.dropLast() }
        return (String(host), port)
    }

    /// - Parameter host: in lower case; an IPv6 address without brackets.
    func matches(_ host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch hosts {
        case .all: return true
        case .block(let block): return block.contains(host)
        case .name(let name):
            let host = host.hasSuffix(".") ? host.dropLast() : host[...]
            return host == name || host.hasSuffix("." + name)
        }
    }
}
