internal import HTTPListener
private import NIOCore

/// What the header fields of a request tell of a browser behind it.
extension HTTPFields {
    /// Whether a browser sends the request for a page of another site.
    ///
    /// By Fetch Metadata, which pages can't forge, and where a browser sends none, by `Origin` (RFC 6454, section 7). Whatever
    /// is no browser sends neither.
    var isCrossSite: Bool {
        let sites = all("Sec-Fetch-Site")
        guard sites.isEmpty else { return !sites.allSatisfy { $0 == "same-origin" || $0 == "none" } }
        let origins = all("Origin")
        guard let origin = origins.first else { return false }
        guard origins.count == 1, let host = self["Host"]?.string.lowercased() else { return true }
        let text = origin.string.lowercased()
        return text != "http://" + host && text != "https://" + host
    }

    /// Whether the request asks for a host by a name other than `localhost`: one that somebody else may have pointed here.
    var asksForHostName: Bool {
        guard var host = self["Host"]?.string.lowercased()[...] else { return false }
        if let colon = host.lastIndex(of: ":"), host[colon...].dropFirst().allSatisfy(\.isNumber), !host.hasSuffix("]")
        {
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return !host.isEmpty && host != "localhost" && (try? SocketAddress(ipAddress: String(host), port: 0)) == nil
    }
}
