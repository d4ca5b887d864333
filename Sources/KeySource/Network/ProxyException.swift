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
