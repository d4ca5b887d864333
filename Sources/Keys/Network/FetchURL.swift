private import Bytes

/// An absolute `https` URL, or `http` if allowed: the only URLs from which keys are fetched.
///
/// A small strict grammar instead of a lenient library: if two parsers read a URL differently, a request goes to the
/// wrong host.
package struct FetchURL: Sendable, Hashable {
    /// The URL with its host in lower case, so that the vetted text and the text used for connecting are the same.
    package let text: String
    package let isSecure: Bool
    /// In lower case; an IPv6 address without brackets.
    package let host: String
    package let port: Int

    /// - Throws: ``FetchFailure`` with the reason, without repeating the URL.
    package init(_ text: String, allowingHTTP: Bool) throws(FetchFailure) {
        guard text.utf8.allSatisfy({ $0.isVisibleASCII && $0 != UInt8(ascii: "\\") }), text.utf8.count <= 2048
        else {
            throw FetchFailure(
                .address,
                "a URL must be printable ASCII without spaces or backslashes, at most 2048 characters; write a host name with other letters as xn--…"
            )
        }
        let rest: Substring
        if text.hasPrefix("https://") {
            isSecure = true
            rest = text.dropFirst("https://".count)
        } else if text.hasPrefix("http://") {
            guard allowingHTTP else {
                throw FetchFailure(.address, "http is not allowed: use https, or set network.allow_http for tests")
            }
            isSecure = false
            rest = text.dropFirst("http://".count)
        } else {
            throw FetchFailure(
                .address, "a URL to fetch begins with https://\(allowingHTTP ? " or http://" : "")")
        }
        guard !rest.contains("#") else { throw FetchFailure(.address, "a URL to fetch has no fragment (#)") }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { throw FetchFailure(.address, "a URL must not carry credentials (user@)") }
        guard let (host, port) = Self.split(authority) else {
            throw FetchFailure(
                .address, "a URL needs a valid host name or address, and a port from 1 to 65535 if any")
        }
        let scheme = isSecure ? "https://" : "http://"
        self.text = scheme + authority.lowercased() + rest.dropFirst(authority.count)
        self.host = host.lowercased()
        self.port = port ?? (isSecure ? 443 : 80)
    }

    private static func split(_ authority: Substring) -> (host: Substring, port: Int?)? {
        let host: Substring
        let afterHost: Substring
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            afterHost = authority[authority.index(after: end)...]
            guard AddressVetting.isIPv6(String(host)) else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            afterHost = authority[host.endIndex...]
            guard host.utf8.allSatisfy(isHostCharacter), hasValidLabels(host) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        guard let colon = afterHost.first else { return (host, nil) }
        let digits = afterHost.dropFirst()
        guard colon == ":", digits.utf8.allSatisfy(\.isDigit), let port = Int(digits),
            (1...65535).contains(port)
        else { return nil }
        return (host, port)
    }

    /// Whether a name is valid in DNS (RFC 1035, section 2.3.4); a trailing dot stands for the root.
    private static func hasValidLabels(_ host: Substring) -> Bool {
        guard host.utf8.count <= 254 else { return false }
        let name = host.hasSuffix(".") ? host.dropLast() : host
        return name.utf8.count <= 253
            && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                (1...63).contains($0.utf8.count)
            }
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
    }

    /// The target of a redirect from this URL.
    ///
    /// - Parameter location: an absolute URL, or an absolute path on the same host.
    /// - Throws: ``FetchFailure``, also for a redirect from https to http.
    package func redirected(to location: String, allowingHTTP: Bool) throws(FetchFailure) -> FetchURL {
        let target: FetchURL
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            let origin = text.prefix(text.count - pathLength)
            target = try FetchURL(origin + location, allowingHTTP: allowingHTTP)
        } else {
            target = try FetchURL(location, allowingHTTP: allowingHTTP)
        }
        guard target.isSecure || !isSecure else {
            throw FetchFailure(.http, "a redirect from https to http is not followed")
        }
        return target
    }

    /// Scheme, host and port.
    var origin: String { (isSecure ? "https://" : "http://") + authority }

    /// Host and port for the field `Host`.
    package var authority: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        return port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
    }

    /// Path and query for the request line (RFC 9112, section 3.2.1).
    package var requestTarget: String {
        let target = text.suffix(pathLength)
        return (target.hasPrefix("/") ? "" : "/") + target
    }

    /// The number of characters from the first `/` or `?` after the authority to the end.
    private var pathLength: Int {
        let afterScheme = text.dropFirst(isSecure ? "https://".count : "http://".count)
        return afterScheme.drop { $0 != "/" && $0 != "?" }.count
    }
}
