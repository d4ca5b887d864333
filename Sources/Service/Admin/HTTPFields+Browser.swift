internal import HTTPServer
private import NIOCore

/// What the header fields of a request tell of a browser behind it.
extension HTTPFields {
    /// Whether a browser sends the request for a page of another site.
    ///
    /// By Fetch Metadata, which pages can't forge, and where a browser sends none, by `Origin` (RFC 6454, section 7). Whatever
    /// is no browser sends neither.
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

    /// Whether the request is for a host other than `localhost`, an IP address, or one of these names: anybody can point a
    /// name of their own at this listener (DNS rebinding).
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
