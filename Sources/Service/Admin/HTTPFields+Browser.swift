internal import HTTPServer
private import NIOCore

/// Detects browsers by a request's header fields.
extension HTTPFields {
    /// Whether a browser sent the request for a page of another site.
    ///
    /// Uses Fetch Metadata, which pages can't forge. If a browser doesn't send it, `Origin` is used (RFC 6454, section
    /// 7). Other clients send neither.
    var isCrossSite: Bool {
        let sites = all("Sec-Fetch-Site")
        guard sites.isEmpty else {
            return !(sites.count == 1 && sites.allSatisfy { $0 == "same-origin" || $0 == "none" })
        }
        let origins = all("Origin")
        guard let origin = origins.first else { return false }
        guard origins.count == 1, let host = self["Host"]?.string.lowercased() else { return true }
        let text = origin.string.lowercased()
        return text != "http://" + host && text != "https://" + host
    }

    /// Whether the request's host is other than `localhost`, an IP address, or one of these names. An attacker can
    /// point their own domain name at this listener (DNS rebinding).
    ///
    /// - Parameter names: in lower case.
    func isForForeignHost(besides names: [String]) -> Bool {
        guard let host = hostName, host != "localhost", !names.contains(where: { host == $0 }) else { return false }
        return !host.isIPAddress
    }

    /// Whether the request's host is a name that someone could register, and point at this listener (DNS rebinding).
    ///
    /// Names without a dot and those that end in `.test`, `.localhost` (RFC 6761) or `.internal` can't be registered:
    /// they are what containers and tests call each other.
    var isForPublicHost: Bool {
        guard let host = hostName, host.contains("."),
            ![".test", ".localhost", ".internal"].contains(where: host.hasSuffix)
        else { return false }
        return !host.isIPAddress
    }

    /// The request's host in lower case, without a port or brackets; `nil` if there is none.
    private var hostName: Substring? {
        guard var host = self["Host"]?.string.lowercased()[...] else { return nil }
        if let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber), !host.hasSuffix("]")
        {
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : host
    }
}

extension Substring {
    fileprivate var isIPAddress: Bool { (try? SocketAddress(ipAddress: String(self), port: 0)) != nil }
}
