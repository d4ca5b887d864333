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
        guard var host = self["Host"]?.string.lowercased()[...] else { return false }
        if let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber), !host.hasSuffix("]")
        {
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host != "localhost", !names.contains(where: { host == $0 }) else { return false }
        return (try? SocketAddress(ipAddress: String(host), port: 0)) == nil
    }
}
