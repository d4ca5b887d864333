private import Bytes

/// The host of a URL or of a request, in lower case and without a port.
struct HostName {
    private let name: String

    /// - Parameter authority: a host with an optional port, as in the field `Host`; `nil` if it is not one.
    init?(_ authority: some StringProtocol) {
        var host = authority.lowercased()[...]
        let isLiteral = host.hasPrefix("[")
        if let colon = host.lastIndex(of: ":"), !isLiteral || host[..<colon].hasSuffix("]") {
            guard host[host.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            host = host[..<colon]
        }
        let allowed = isLiteral ? ":.[]" : "-."
        guard !host.isEmpty, host.utf8.allSatisfy({ $0.isLetterOrDigit || allowed.utf8.contains($0) }) else {
            return nil
        }
        name = String(host)
    }

    /// The host of an absolute `http` or `https` URL.
    init?(ofURL url: String) {
        guard let scheme = ["http://", "https://"].first(where: url.hasPrefix) else { return nil }
        self.init(url.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) })
    }

    /// Whether this is a loopback host, or a name that is reserved for tests (RFC 6761, sections 6.2 and 6.3).
    var isOfDevelopment: Bool {
        name == "localhost" || name == "[::1]" || name.hasSuffix(".test") || name.hasSuffix(".localhost")
            || isLoopbackAddress
    }

    /// Whether a development issuer may use it: it must not be mistaken for a real provider's host.
    var isOfIssuer: Bool { name == "127.0.0.1" || name.hasSuffix(".test") }

    private var isLoopbackAddress: Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
